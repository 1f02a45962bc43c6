"""What happens to a candidate before it may be stored (spec 2.1, 2.2, 2.4); all pure."""
