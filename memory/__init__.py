"""The product: what was learned, kept, found and forgotten: the tenant schema (spec 1-4, 6)."""
