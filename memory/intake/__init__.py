"""What happens to a candidate before it may be stored; all pure."""
