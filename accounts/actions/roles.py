"""Make the application's role on a server of one's own, and let it in.

Web, worker and clock connect as a role that owns no table, for row-level security to hold. Where
the settings know the owner, the application's role is the one of DATABASE_URL, with its password.
Where they do not, the one role there is becomes the owner, and a new one is made for the
application.
"""

import secrets
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db import connection

from accounts.errors import Conflict
from accounts.messages import message
from accounts.tenancy import rls

PASSWORD_BYTES: Final = 24  # 192 bits, 32 characters


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeRole:
    """The application's role; `password` only when it was made up here, shown once.

    `is_admitted` is False as long as there are no tables: `migrate` lets it in then.
    """

    name: str
    password: str
    is_admitted: bool


def make_application_role(*, name: str) -> MadeRole:
    """Make the role or mend it; `name` stands for it where the settings do not know the owner.

    One that is there keeps its password unless the settings say another. Raises Conflict for the
    name of the owner itself.
    """
    knows_owner = settings.DATABASE_OWNER is not None
    given = settings.DATABASES["default"]
    chosen = str(given["USER"]) if knows_owner else name
    with connection.as_owner():  # type: ignore[attr-defined]
        if rls.powers().role == chosen:
            raise Conflict(
                detail=message(
                    "{role} owns the tables, so it cannot be the application's role too.",
                    role=chosen,
                ),
                hint="Give the two addresses two roles, or choose another name.",
            )
        password = str(given["PASSWORD"]) if knows_owner else _new_password(chosen)
        if password or not rls.has_role(name=chosen):
            rls.make_role(name=chosen, password=password)
        is_admitted = rls.is_installed()
        if is_admitted:
            rls.admit(role=chosen)
    shown = "" if knows_owner else password
    return MadeRole(name=chosen, password=shown, is_admitted=is_admitted)


def _new_password(name: str) -> str:
    return "" if rls.has_role(name=name) else secrets.token_urlsafe(PASSWORD_BYTES)
