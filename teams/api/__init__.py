"""REST calls about projects and the change feed (spec 8.1)."""
