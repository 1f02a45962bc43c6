"""REST calls about projects and the change feed."""
