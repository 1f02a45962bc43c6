"""Backups: a consistent copy of everything, kept whole, encrypted, tried, and restored.

What it is for. One folder a backup, in a folder or a bucket (`places.py`):

    cairn-20261128T030000Z/database.dump    pg_dump's custom format, of one snapshot
                           contents.json    tables with counts and digests, heads of the audit logs
                           home.json        files of the data folder; secrets only when encrypted
                           manifest.json    versions, and the size and SHA-256 of the others

How it flows. `actions.back_up` opens a snapshot, counts in it (`contents.py`), and lets pg_dump
copy that same snapshot (`programs.py`). All of it streams, so memory does not grow with the data.
The manifest is written last: what has none is no backup. Whoever reads one first compares every
file with the manifest (`archive.py`), and only then begins.

Decisions.
- The dump is Postgres' own, so tables, policies, triggers, sequences and indexes come back as they
  were, also those of an older version, which `migrate` then brings up to date. Owners and grants
  stay out: `migrate` makes them for the roles of the installation.
- Every file is encrypted with a key of its own in chunks (`sealing.py`). Without a key, the secrets
  of the installation stay out of the backup, because they make the digests of tokens usable.
- One organization is restored by a scratch database (`organizations.py`), and backups are tried in
  one (`verification.py`). What was dropped stays dropped, by its receipt (`receipts.py`).
- A load is one transaction that commits when the last byte was well: nothing is half restored.
- The digest of a table does not depend on the order of rows, so it is compared without sorting.

Start reading at `actions.py`.
"""
