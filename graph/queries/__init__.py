"""Reads of the graph, as frozen values."""
