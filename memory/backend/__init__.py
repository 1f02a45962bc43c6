"""What memory keeps outside of the database."""
