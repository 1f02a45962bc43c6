"""Places (projects, teams), people's parts in them, and who decides: the tenant schema."""
