"""Code and knowledge as nodes and edges: the tenant schema."""
