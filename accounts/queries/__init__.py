"""What pages and interfaces read of people, organizations, credentials and jobs."""
