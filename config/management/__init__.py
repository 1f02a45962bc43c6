"""Commands that put apps together (spec 10.1)."""
