"""How an app declares its REST calls: one decorator on the function that answers.

    @post("tokens", tag="tokens", scope=TokenScope.ADMIN, answer=IssuedToken, status=201)
    def create_token(call: Call, body: NewToken) -> dict[str, Any]:
        ...

The function's name is the operation's, its docstring the summary and the description, and its
parameters `body`, `query` and `headers` are checked by the models that they are annotated with. It
returns what the `answer` model can be made of, or an `Answer` around it with a version, a cursor, a
place or another status. `config.rest` does the rest alike for all calls: credentials, tenant,
strict reading, idempotency, versions, cursors, limits, problem documents, the OpenAPI document. So
a call cannot forget one of these, and is tested without a request.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from types import ModuleType
from typing import Any, Final, TypeVar, get_type_hints
from uuid import UUID

from pydantic import BaseModel, TypeAdapter

from accounts.api.schemas import Body, Headers, PageQuery, Query, identifier
from accounts.caller import Caller, Role, TokenScope

JSON: Final = "application/json"
BYTES: Final = "application/octet-stream"
READ: Final = ("body", "query", "headers")  # parameters of a function that answers
NOBODY: Final = UUID(int=0)  # what is no id names nothing, and is answered like an unknown one
STRANGER: Final = Caller(  # may nothing, and is nowhere
    user_id=None,
    organization_id=NOBODY,
    organization_slug="",
    schema_name="",
    role=Role.VIEWER,
    scopes=frozenset(),
    bound_projects=(),
    source_interface="api",
)


Place = TypeVar("Place")


class Edits(StrEnum):
    """Whether a call edits one version of a thing, and must say which (If-Match)."""

    NOTHING = "nothing"
    ANY_VERSION = "any_version"
    NAMED_VERSION = "named_version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call, read and checked."""

    caller: Caller
    now: datetime
    body: Any = None  # as the endpoint's models let it through, like query and headers
    query: Any = None
    path: Mapping[str, str] = field(default_factory=dict)
    cursor: str | None = None  # where the page before ended, as JSON
    if_version: int | None = None  # of If-Match
    headers: Any = None

    @property
    def id(self) -> UUID:
        """The id that the path names."""
        return identifier(text=self.path["id"]) or NOBODY

    @property
    def ref(self) -> str:
        """The slug or id that the path names."""
        return self.path["ref"]

    def after(self, kind: type[Place]) -> Place | None:
        """Return where the page before ended, None for the first page."""
        return None if self.cursor is None else TypeAdapter(kind).validate_json(self.cursor)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call returns besides a body."""

    body: Any
    _: KW_ONLY
    status: int = 0  # 0: the one that the endpoint declares
    version: int | None = None  # for the ETag
    following: Any = None  # what `Call.after` returns for the next page; None: there is none
    location: str = ""
    filename: str = ""  # not empty: the body is an open file, which its sender closes
    media: str = JSON  # of such a file
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One call; as a decorator it takes what is left empty from the function that answers.

    `path` is relative to /api/v1/ with {names} for its parts. `answer` is the model of the body;
    without one, the answer is a file of one of the types `media`. `also` are further statuses of
    success with what they mean.

    One whose query is a `PageQuery` is paged, and its answer is a `Page`. `edits` says whether
    If-Match is taken or needed. An `idempotent` one takes Idempotency-Key.

    `largest` is how many bytes of JSON it takes where neither the usual bound nor the one of a
    `bulk` fits, and `smaller` what to do about a body that is larger. `lines` is the field that
    holds the lines of NDJSON. `lenient` where the body tells what others wrote: what cannot be
    stored is replaced. `upload` is how many bytes of a file it takes for a body, whatever their
    type.

    A `weighed` one costs more the more is sent, and counts as several calls by its size.

    A `public` one needs no credential, looks at none, and is run for the STRANGER.
    """

    method: str
    path: str
    _: KW_ONLY
    tag: str
    scope: TokenScope | None
    answer: type[BaseModel] | None = None
    status: int = 200
    also: Mapping[int, str] = field(default_factory=dict)
    media: tuple[str, ...] = ()
    edits: Edits = Edits.NOTHING
    idempotent: bool = False
    bulk: bool = False
    largest: int = 0
    smaller: str = ""
    lenient: bool = False
    lines: str = ""
    upload: int = 0
    weighed: bool = False
    public: bool = False
    name: str = ""
    summary: str = ""
    description: str = ""
    run: Callable[..., Any] = lambda call: None
    body: type[Body] | None = None
    query: type[Query] = Query
    headers: type[Headers] | None = None
    parameters: tuple[str, ...] = ()

    def __call__(self, function: Callable[..., Any]) -> "Endpoint":
        """Return the endpoint that a function answers."""
        summary, _, says = inspect.cleandoc(function.__doc__ or "").partition("\n")
        hints = get_type_hints(function)
        models = {name: hints[name] for name in READ if name in hints}
        return replace(
            self,
            name=self.name or function.__name__,
            summary=summary.removesuffix("."),
            description=self.description or " ".join(says.split()),
            run=function,
            parameters=tuple(models),
            **models,
        )

    @property
    def paged(self) -> bool:
        """Whether it answers page by page."""
        return issubclass(self.query, PageQuery)

    def respond(self, call: Call) -> Answer:
        """Answer a call that was read and checked."""
        found = self.run(call, **{name: getattr(call, name) for name in self.parameters})
        return found if isinstance(found, Answer) else Answer(found)


get = partial(Endpoint, "GET", scope=TokenScope.READ)
post = partial(Endpoint, "POST", scope=TokenScope.WRITE, idempotent=True)
put = partial(Endpoint, "PUT", scope=TokenScope.WRITE)
patch = partial(Endpoint, "PATCH", scope=TokenScope.WRITE)
delete = partial(Endpoint, "DELETE", scope=TokenScope.WRITE)


def declared_in(module: ModuleType) -> tuple[Endpoint, ...]:
    """Return the endpoints of a module, in their order."""
    found = (one for one in vars(module).values() if isinstance(one, Endpoint))
    return tuple(one for one in found if one.run.__module__ == module.__name__)
