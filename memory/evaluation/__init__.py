"""Evaluation: searches and extraction measured on judged sets, and constants fitted on them.

A judged set (`dataset`, also of public ones) fills an organization that is never there
(`sandbox`): one transaction that is rolled back. `actions` asks its queries through the real
`search()`, `measures` turns answers into recall, nDCG, silence and packs with bootstrap intervals,
`report` writes them and compares two reports. `fitting` makes the calibrations of relevance and
weights of fusion; signs and thresholds are chosen by cross-validation on the train half, and the
held half is looked at once, at the end. `conversations` does the same for extraction.

Start at `actions.evaluate`. The commands are `manage.py evaluate` and `evaluate_extraction`.
"""
