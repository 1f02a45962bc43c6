"""Who calls, and for which organization: the public schema.

What it is for. People sign in, belong to organizations and hold tokens; background work is kept as
rows. Everything else of the product runs inside one organization, which this app enters.

Flow of a request. An edge turns a token or a session into a `Caller` (`authentication`), enters its
organization (`tenancy.enter`) and works in units (`tenancy.unit`: one transaction with the schema
and the organization set by SET LOCAL). An act and its audit entry commit together (`audit`). Work
for later is a row in the outbox (`jobs.enqueue`); after commit a worker is woken, which claims the
row and runs its handler inside the organization (`tasks`).

Decisions.
- Two walls: the search path, and row-level security by the organization's id. They come from
  different parts of the credential, so a slip of one shows nothing instead of another's rows.
- What must be asked before an organization is known (a token, an invitation, the next job) goes
  through functions of the owner, each with one purpose (`tenancy.rls`).
- A schema set on the session was tried and dropped: through transaction pooling and across
  coroutines half of the reads came from the wrong tenant.
- Nothing about rights is cached: what is revoked is refused at the next request.
- Of secrets only keyed digests are stored (`peppers`).
- Refusals are English messages that keep their template and values (`messages`), so that pages can
  say them in another language; programs are always answered in English.

Start reading at `tenancy/__init__.py`, then `authentication.py` and `jobs.py`.
"""
