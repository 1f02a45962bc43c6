"""Algorithms over the graph, pure."""
