"""Who calls, and for which organization: the public schema."""
