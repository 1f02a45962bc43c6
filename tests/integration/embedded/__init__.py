"""The one-command start on real processes and real servers."""
