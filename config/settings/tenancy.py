"""Database and tenants: one Postgres schema an organization, entered with SET LOCAL.

Nothing here is kept on a session, so a pooler between transactions may stand in front of Postgres;
what each connection starts with is stored there (accounts.tenancy.rls).

Programs connect as DATABASE_URL says. Where DATABASE_OWNER_URL is given, that role owns the tables
and migrations run as it, in the same database; otherwise one role is both.
"""

import dj_database_url

from accounts import timeouts
from config.settings.base import ENV

POOL_MINIMUM = 1
POOL_MAXIMUM = 8  # connections a process; four times the cores of a small machine
RECONNECT_TIMEOUT_S = 5  # then the next request tries anew; the pool's own waits grow to minutes
CONNECTION_LIFETIME_S = 1_800  # catalog caches grow with every tenant a backend has seen

DATABASES = {
    "default": {
        **dj_database_url.parse(
            ENV["DATABASE_URL"] or "postgresql://postgres@localhost/cairn",
            engine="accounts.tenancy.database",
        ),
        "OPTIONS": {
            "pool": {
                "min_size": POOL_MINIMUM,
                "max_size": POOL_MAXIMUM,
                "timeout": 10,
                "max_lifetime": CONNECTION_LIFETIME_S,
                "reconnect_timeout": RECONNECT_TIMEOUT_S,
                "connection_class": timeouts.PatientConnection,
            },
        },
        "DISABLE_SERVER_SIDE_CURSORS": True,  # they would outlive their transaction
    }
}
DATABASE_OWNER = (
    {
        part: value
        for part, value in dj_database_url.parse(ENV["DATABASE_OWNER_URL"]).items()
        if part in {"USER", "PASSWORD", "HOST", "PORT"}
    }
    if ENV["DATABASE_OWNER_URL"]
    else None
)
DATABASE_ROUTERS = ["django_tenants.routers.TenantSyncRouter"]
TENANT_MODEL = "accounts.Organization"
TENANT_DOMAIN_MODEL = "accounts.Domain"
SKIP_PG_EXTRA_VALIDATION = True  # otherwise every command queries the database when it loads
