"""Commands that put apps together."""
