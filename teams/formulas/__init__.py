"""Formulas of teams: the chain of the audit log."""
