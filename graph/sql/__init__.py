"""Named statements about nodes and edges, and their typed callers."""
