"""Projects, teams, and who sees what: the tenant schema.

What it is for. Every row that people can read carries an audience: a person, a project, a team or
the organization. `visibility` is the one predicate over it, as a queryset filter and as SQL, and
every read of the product starts with it. `permissions` says which role may do which act.

Flow of a write. An action checks the act (`permissions.require`), opens a unit, changes rows, and
appends to the audit log (`audit.append`) and to the feed of changes (`changes.append`). Both are
written as the last thing of the unit under one lock, so numbers have no gaps and writers wait for
each other only there. After commit open pages are woken; they read the feed through `visibility`.

Decisions.
- People are ids here: no foreign key leaves the tenant schema, so an organization can be moved.
- Settings of a project are JSON, and only what is other than usual is stored.
- The audit log is a chain of hashes whose head stands in the public schema (`audit_chain`).
- A write that carries an idempotency key is done once (`idempotency`).

Start reading at `visibility.py`, then `queries.py` and `actions.py`.
"""
