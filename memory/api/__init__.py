"""REST calls about memories (spec 8.1): values in, one action or query, plain data out."""
