"""Forgetting, merging, sorting: decisions of the night, pure (spec 6)."""
