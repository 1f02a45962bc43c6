"""Fill a site for browsers: two organizations, a project with memories a team might have.

Run as a program with the site's environment; prints what a test needs to sign in.
"""

import json
from datetime import UTC, datetime, timedelta

import django

django.setup()

from accounts import tenancy  # noqa: E402
from accounts.actions.tokens import NewToken, create_token  # noqa: E402
from accounts.caller import Caller, Role  # noqa: E402
from memory.actions.confirm import confirm  # noqa: E402
from memory.actions.correct import correct  # noqa: E402
from memory.actions.pin import pin  # noqa: E402
from memory.actions.remember import NewMemory, remember  # noqa: E402
from memory.models import Memory  # noqa: E402
from teams.actions.projects import create_project  # noqa: E402
from tests.support import people  # noqa: E402

MEMORIES = (
    ("gotcha", "Token refresh fails silently when Redis is slow. Catch `ECONNREFUSED` and fall back to re-login.", ("middleware/auth.ts",), ("auth", "redis")),
    ("decision", "Sessions are JWTs; Redis holds only the deny-list, so edge nodes stay stateless.", ("auth/tokens.ts",), ("auth",)),
    ("dead_end", "Optimistic refresh with two Redis keys double-writes under load; we removed it in March.", ("auth/refresh.ts",), ("auth",)),
    ("error_pattern", "Auth tests hang without REDIS_URL because the client retries forever.", ("tests/auth/setup.ts",), ("tests",)),
    ("workflow_recipe", "Adding a new auth provider: config entry, callback route, mapper, button, test, changelog.", ("auth/providers/index.ts",), ("auth",)),
    ("requirement", "A cart survives sign-in: the anonymous cart is merged, never dropped.", ("cart/merge.ts",), ("cart",)),
    ("fact", "Stripe webhooks arrive twice about once a day; the handler must be idempotent.", ("billing/webhook.ts",), ("billing",)),
    ("preference", "Amounts are integers of the smallest unit everywhere; formatting happens in the view.", ("billing/money.ts",), ("billing",)),
    ("pattern", "Feature flags are read once per request and passed down, so that tests set them without patching.", ("flags/read.ts",), ()),
    ("gotcha", "The search index lags writes by two seconds; after creating a product, read it from the database.", ("search/index.ts",), ("search",)),
    ("module_insight", "The checkout module is the only one that may talk to the payment provider.", ("checkout/pay.ts",), ("checkout",)),
    ("decision", "Use Postgres advisory locks for cart merges instead of a queue.", ("cart/merge.ts",), ("cart", "postgres")),
    ("fix", "Flaky end-to-end tests stopped when the clock was frozen before login instead of after.", ("tests/e2e/login.ts",), ("tests",)),
    ("tool", "Run `pnpm db:reset` before the integration tests; it drops and seeds the database.", ("package.json",), ("tests",)),
)  # fmt: skip


def main() -> None:
    """Seed, and print the credentials."""
    acme, globex = people.make_organization(slug="acme"), people.make_organization(slug="globex")
    mia = people.make_person(organization=acme, email="mia@acme.test", role=Role.OWNER)
    people.make_person(organization=acme, email="jon@acme.test", role=Role.MEMBER)
    people.make_person(organization=globex, email="eve@globex.test", role=Role.OWNER)
    caller = people.as_caller(organization=acme, user=mia, role=Role.OWNER)
    now = datetime.now(UTC)
    issued = create_token(caller=caller, new=NewToken(name="laptop"), now=now)
    with people.entered(organization=acme):
        for slug, name in (("storefront", "storefront"), ("warehouse", "Warehouse")):
            create_project(caller=caller, slug=slug, name=name, now=now)
        _fill(caller, now)
    print(json.dumps({  # noqa: T201
        "email": mia.email, "password": people.PASSWORD, "stranger": "eve@globex.test",
        "token": issued.text, "organization": "acme", "project": "storefront",
    }))  # fmt: skip


def _fill(caller: Caller, now: datetime) -> None:
    ids = []
    for place, (kind, content, files, tags) in enumerate(reversed(MEMORIES)):
        new = NewMemory(
            content=content, type=kind, project="storefront", source="user_taught",
            related_files=files, tags=tags,
        )  # fmt: skip
        moment = now - timedelta(days=40 - 2.9 * place)
        outcome = remember(caller=caller, new=new, now=moment)
        assert outcome.memory is not None, outcome
        ids.append(outcome.memory.id)
    confirm(caller=caller, memory_id=ids[3], now=now - timedelta(days=1))
    confirm(caller=caller, memory_id=ids[-2], now=now - timedelta(hours=7))
    pin(caller=caller, memory_id=ids[5], pinned=True, now=now - timedelta(hours=5))
    correct(
        caller=caller, memory_id=ids[-1], kind="wrong", reason="seen in the outage",
        content=MEMORIES[0][1].replace("slow", "unreachable"), now=now - timedelta(hours=2),
    )  # fmt: skip
    with tenancy.unit():
        Memory.objects.filter(pk=ids[4]).update(needs_review=True)
        Memory.objects.filter(pk=ids[7]).update(verification="stale", stale_at=now)
        Memory.objects.filter(pk=ids[2]).update(taint_reason="learned after a web fetch")


if __name__ == "__main__":
    main()
