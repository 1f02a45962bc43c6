"""REST calls about the graph."""
