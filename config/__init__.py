"""Wiring: how the apps become one product that can be installed, started and watched.

What it is for. No rule of the product stands here. This app may import all others, and none may
import it.

Its parts:

- `env.py` is the table of all settings, with types and defaults. `settings/base.py` makes Django's
  settings of it; `settings/production.py` and `settings/test.py` differ from it in few lines.
- `urls.py` has every address, and reads the endpoints that the apps declare.
- `asgi.py` is the one web process (pages, REST, sockets, MCP), and `handlers.py` says in which
  threads it serves. `throttling.py` limits the calls of a credential.
- `rest/` is what every REST call goes through: reading, idempotency, answers, refusals, and the
  OpenAPI document. How to declare an endpoint is written there.
- `celery.py` wakes workers, and its table `BEAT` says what runs when. The work itself is rows of
  `accounts/jobs.py`.
- `health.py` has the checks of an installation, `metrics.py` and `tracing.py` what operators watch
  it by, `telemetry.py` the lines of the log.
- `embedded/` is the start with one command: Postgres, Valkey, web, worker and clock together.
- `backup/` makes backups and brings them back.
- `demo.py` loads the demo, `translations.py` compiles the catalogs of pages.

Decisions.
- A variable that starts with CAIRN_ and is not known stops the start, because a misspelled setting
  that is ignored is found in production.
- Logs never hold content, and their lines are searched for secrets as well.
- An answer of a health check names checks and no details, because anyone may ask.

Start reading at `env.py`, then `urls.py` and `rest/views.py`.
"""
