"""The product: what was learned, kept, found and forgotten: the tenant schema."""
