"""The one-command start: Postgres, Valkey, web processes, worker and beat under one supervisor.

`run` holds the data folder (`home`), starts the servers that no address is given for (`servers`),
runs the steps that are due (weights, translations, tables, the owner, the demo), starts the
programs and prints where they are (`startup`). `processes` looks after all of them until Ctrl-C.

Web processes, worker and clock are a `fleet`: forked from one `loader` that shares the model with
them, serving (`web`) from one socket, and replaced one after another when a restart is asked for.

Nothing outlives the supervisor, however it dies; after a kill the next start clears what was left
(`servers.clear_stale`). Postgres refuses to run as root, so root puts it into a user namespace or
hands it to another user (`home.choose`).

Start reading at `startup.py`.
"""
