"""The database engine of Django for the settings: accounts.tenancy.database."""
