"""Algorithms over the graph, pure (spec 5.3)."""
