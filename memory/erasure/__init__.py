"""Erasure: what is deleted for good, with a receipt that says how much and nothing of what it was.

Archiving takes a memory out of use and keeps it; this takes it away. `actions.rows` deletes rows of
memories with all that repeats their words; `actions.erase_memory` does so for one memory that
somebody names, `actions.delete_session` for a session and, on request, for what came of it, and
`actions.erase_person` for all that one person alone can see.

What holds words of a memory, and what becomes of it:

- its versions, vectors, words, names, links, conflicts and verdicts go with the row;
- the change feed, the delivery log and the word counts of its place lose it;
- what verdicts on other memories keep of it and the answers that wait for a repeated request are
  emptied: the rows stay, so that such a verdict is not undone without it, and a repeated request
  does not bring it back; imports keep nothing of what they stored;
- what it had replaced is archived; what derives from it waits for a person;
- where it was said stays: a session and a note are other people's words too, and each has a delete
  of its own. The receipt names them.

The audit log keeps who deleted what by its id. It never held contents, so its chain still holds.

Decisions:
- Only a person deletes for good, in person or by a credential with which they decide: what is
  deleted cannot be brought back, and an agent that is talked into it would destroy what it serves.
- Deleted rows stay in the files of the database until it cleans up, and in backups until those are
  deleted; the operators' page says what to do after a restore.
"""
