"""Hostile values in every field of every write."""
