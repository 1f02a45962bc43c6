"""What every shape of the API is made of: pydantic models, for checking, answering, describing.

A `Body`, `Query` or `Headers` checks what callers send. It is strict: "7" is not 7, and a field
that is not known is refused, because a misspelled field that is ignored is a loss nobody sees. All
faults are reported together, each with its JSON pointer and a stable code. Null means that an
optional field was left out. A `Changes` body (of PATCH) keeps only what was sent.

A `Result` is what a call answers. It is made of the frozen values that queries return, by the
names of their attributes; a field without a default is in every answer.

Types to use for fields: `str` or `Name` (not blank), `int`, `float`, `bool`, `Moment`,
`Identifier`, `Free` (any object), `Several[...]` (a list), `Choice[SomeEnum]`, and
`Annotated[str, OneOf(values)]` for choices that are not an enum.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import NoneType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    GetPydanticSchema,
    Strict,
    StringConstraints,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from accounts.errors import CairnError, FieldError, InvalidInput

UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
LARGEST_ECHO: Final = 60  # characters of a wrong value that an answer repeats
LARGEST_NAME: Final = 80  # characters of an unknown field that an answer repeats
MOST_FAULTS: Final = 100  # that an answer names: each is searched for secrets
LARGEST_FREE: Final = 20_000  # characters of a free object as Python writes it
DEFAULT_LIMIT: Final = 50  # of a page
LARGEST_LIMIT: Final = 200
LONGEST_CURSOR: Final = 600  # characters
DIGITS: Final = re.compile(r"-?[0-9]{1,18}\Z")
MANY_DIGITS: Final = re.compile(r"[0-9]{19,}\Z")
BEYOND_ALL: Final = 10**18  # above the bound of every whole number in a query
CANONICAL: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")  # RFC 9562
TRUTHS: Final = {"true": True, "1": True, "false": False, "0": False}
KINDS: Final[Mapping[type, str]] = {
    NoneType: "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
}
WANTED: Final = {  # the first word of pydantic's error type: what should have been sent
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "tuple": "a list",
    "dict": "an object",
    "model": "an object",
}
T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)
Shown = TypeVar("Shown", bound="Result")


def _not_blank(text: str) -> str:
    if text.isspace():
        raise PydanticCustomError("blank", "This must not be blank.")
    return text


def _moment(value: Any) -> datetime:
    if not isinstance(value, datetime):
        try:
            value = datetime.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            raise PydanticCustomError("moment", _echo(value) + " is not a date and time.") from None
    if value is None or value.tzinfo is None:
        example = "Write a date and time like 2026-11-20T12:00:00Z."
        raise PydanticCustomError("moment", example)
    try:
        moment: datetime = value.astimezone(UTC)
        return moment
    except OverflowError:
        raise PydanticCustomError("moment", "This is not a date and time.") from None


def _identifier(value: Any) -> Any:
    if isinstance(value, UUID):
        return value
    found = identifier(text=value) if isinstance(value, str) else None
    if found is None:
        raise PydanticCustomError("identifier", "This must be an id (a UUID).")
    return found


def Largest(characters: int) -> AfterValidator:  # noqa: N802  # stands among types
    """Bound a free object by the characters in which Python writes it."""

    def check(value: dict[str, Any]) -> dict[str, Any]:
        if len(repr(value)) > characters:
            raise PydanticCustomError("length", f"At most {characters:,} characters of JSON.")
        return value

    return AfterValidator(check)


def OneOf(choices: Iterable[str]) -> GetPydanticSchema:  # noqa: N802
    """Take one of some texts, where they are no enum."""
    texts = [str(choice) for choice in choices]
    return GetPydanticSchema(lambda _source, _handler: core_schema.literal_schema(texts))


def ChoiceOrForm(choices: Iterable[str], *, form: str, most: int) -> GetPydanticSchema:  # noqa: N802
    """Take one of some known texts, or another that a pattern matches, of so many characters."""
    texts = [str(choice) for choice in choices]
    other = {"minLength": 1, "maxLength": most, "pattern": f"^{form}$"}
    described = {"type": "string", "anyOf": [{"enum": texts}, other]}

    def check(text: str) -> str:
        if text not in texts and not re.fullmatch(form, text):
            raise PydanticCustomError("choice", _not_one_of(text, texts))
        if text not in texts and len(text) > most:
            detail = f"This must have 1 to {most:,} characters, not {len(text):,}."
            raise PydanticCustomError("length", detail)
        return text

    return GetPydanticSchema(
        lambda _source, _handler: core_schema.no_info_after_validator_function(
            check, core_schema.str_schema(strict=True)
        ),
        lambda _schema, _handler: dict(described),
    )


Name = Annotated[str, StringConstraints(min_length=1), AfterValidator(_not_blank)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Identifier = Annotated[UUID, BeforeValidator(_identifier)]
Free = Annotated[dict[str, Any], Largest(LARGEST_FREE)]
Several = Annotated[tuple[T, ...], Strict(False)]
Choice = Annotated[T, Strict(False)]


class Sent(BaseModel):
    """What a caller sends, checked strictly; null means that an optional field was left out."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )
    takes_null_as_unsent: ClassVar[bool] = True
    optional: ClassVar[frozenset[str]] = frozenset()
    whole: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Note which fields may be null, and which hold whole numbers."""
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        cls.optional = frozenset(
            name
            for name, one in fields.items()
            if cls.takes_null_as_unsent and not one.is_required()
        )
        kinds = {name: (one.annotation, *get_args(one.annotation)) for name, one in fields.items()}
        cls.whole = frozenset(name for name, kind in kinds.items() if int in kind)

    @model_validator(mode="before")
    @classmethod
    def _prepare(cls, value: Any) -> Any:
        """Leave out null, and take 7.0 for 7 as JSON Schema does."""
        if not isinstance(value, dict):
            return value
        return {
            name: int(one)
            if name in cls.whole and isinstance(one, float) and one.is_integer()
            else one
            for name, one in value.items()
            if one is not None or name not in cls.optional
        }

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe the fields without titles and without defaults that say nothing."""
        reference = handler(schema)
        described = handler.resolve_ref_schema(reference)
        described.pop("title", None)
        properties = described.get("properties", {})
        for name, part in properties.items():
            part.pop("title", None)
            if part.get("default", 0) in (None, [], ()):
                del part["default"]
            properties[name] = cls._described(name, part)
        return reference

    @classmethod
    def _described(cls, name: str, part: dict[str, Any]) -> dict[str, Any]:
        """Describe a field; one that is optional may also be null."""
        if name not in cls.optional or _NULL in part.get("anyOf", ()):
            return part
        outer: dict[str, Any] = {key: part.pop(key) for key in _OUTER if key in part}
        return {"anyOf": [part, _NULL], **outer}


class Body(Sent):
    """The JSON body of a call."""


class Nothing(Body):
    """A body without fields."""


class Changes(Body):
    """The body of a PATCH: `sent` are the fields that were sent; null is refused unless allowed.

    Its fields are `unsent(...)`, and their types hold None only where null means something.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    takes_null_as_unsent: ClassVar[bool] = False

    @property
    def sent(self) -> dict[str, Any]:
        """The fields that were sent, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def changed(self) -> dict[str, Any]:
        """Return the fields that were sent. Raises InvalidInput when there are none."""
        if not self.model_fields_set:
            names = ", ".join(type(self).model_fields)
            raise InvalidInput(detail="There is nothing to change.", hint=f"Send one of: {names}.")
        return self.sent


def unsent(**options: Any) -> Any:
    """Return a field of `Changes`: it has no value where it is not sent."""
    return Field(None, **options)


class Query(Sent):
    """The parameters of an address: text, lists separated by commas."""

    @classmethod
    def _described(cls, name: str, part: dict[str, Any]) -> dict[str, Any]:
        """Describe a parameter, which is never null; a list in a query has one element at least."""
        described = _without_null(part)
        if described.get("type") == "array":
            described["minItems"] = max(1, described.get("minItems", 0))
        return described


class PageQuery(Query):
    """The parameters of a list that is answered page by page."""

    limit: int = Field(DEFAULT_LIMIT, ge=1, le=LARGEST_LIMIT, description="How many at most.")
    cursor: Name | None = Field(
        None, max_length=LONGEST_CURSOR, description="`next_cursor` of the page before."
    )


class Headers(Query):
    """Headers that a call reads, by their names as aliases; empty where none was sent."""

    @classmethod
    def _described(cls, name: str, part: dict[str, Any]) -> dict[str, Any]:
        """Describe a header without its default, which is empty."""
        described = super()._described(name, part)
        return {key: described[key] for key in described if key != "default"}


class Resource(NamedTuple):
    """Where a thing of an answer is found: the path of its calls, pointers into it."""

    path: str
    key: str
    version: str = ""  # points at what the ETag says; empty: the thing has no versions


class Result(BaseModel):
    """What a call answers, made of values by the names of their attributes."""

    model_config = ConfigDict(
        from_attributes=True, frozen=True, extra="forbid", validate_by_name=True
    )
    resource: ClassVar[Resource | None] = None

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe the fields without titles and defaults, which mean nothing in an answer."""
        reference = handler(schema)
        described = handler.resolve_ref_schema(reference)
        described.pop("title", None)
        described.pop("additionalProperties", None)  # clients must not rely on it
        hidden = {one.alias or name for name, one in cls.model_fields.items() if one.exclude_if}
        properties = described.get("properties", {})
        for name, part in properties.items():
            part.pop("title", None)
            part.pop("default", None)
            if name in hidden:  # where it is there, it is not null
                properties[name] = _without_null(part)
        return reference


def fields_of(value: type, *, hidden: Iterable[str] = ()) -> Callable[[type[Shown]], type[Shown]]:
    """Give an answer the fields of the value that it shows, but those that are hidden.

    Fields of the answer itself stand for those of the same name, where they show more or less.
    """

    def declare(model: type[Shown]) -> type[Shown]:
        kinds = get_type_hints(value, include_extras=True)
        new = set(kinds) - set(model.model_fields) - set(hidden)
        fields: dict[str, Any] = {name: kinds[name] for name in new}
        doc, module = model.__doc__, model.__module__
        shown = create_model(
            model.__name__, __base__=model, __doc__=doc, __module__=module, **fields
        )
        order = [*(name for name in kinds if name in shown.model_fields), *model.model_fields]
        shown.__pydantic_fields__ = {name: shown.model_fields[name] for name in order}
        shown.model_rebuild(force=True)
        return shown

    return declare


class Items(Result, Generic[T]):
    """A list."""

    items: tuple[T, ...]


class Page(Items[T], Generic[T]):
    """A page of a list; `next_cursor` leads to the next one."""

    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class FaultyItem:
    """An item of a list that is refused alone, and why."""

    error: CairnError


def Alone(model: type[Model]) -> GetPydanticSchema:  # noqa: N802
    """Take an item of a list, or a `FaultyItem` for a malformed one: the others stand."""

    def check(value: Any, handler: Callable[[Any], Any]) -> Any:
        if isinstance(value, CairnError):  # a line that could not be read
            return FaultyItem(value)
        try:
            return handler(value)
        except ValidationError as error:
            return FaultyItem(_refusal(_faults(model, error)))

    return GetPydanticSchema(
        lambda _source, handler: core_schema.no_info_wrap_validator_function(check, handler(model))
    )


def check(*, model: type[Model], value: Any) -> Model:
    """Return the checked value. Raises InvalidInput with its faults, of many the first."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = _faults(model, error)
    raise _refusal(faults)


def _faults(model: type[BaseModel], error: ValidationError) -> tuple[FieldError, ...]:
    found = error.errors(include_url=False)[:MOST_FAULTS]
    return tuple(_fault(model, one) for one in found)


def check_texts(*, model: type[Model], texts: Mapping[str, str]) -> Model:
    """Return the checked parameters of an address. Raises InvalidInput with every fault."""
    detail = "The text holds NUL or half a character."
    unstorable = [name for name, text in texts.items() if UNSTORABLE.search(text)]
    if unstorable:
        raise _refusal(
            tuple(
                FieldError(pointer=_pointer((name,)), detail=detail, code="unstorable_text")
                for name in unstorable
            )
        )
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    value = {
        name: _read_text(fields[name].annotation, text) if name in fields else text
        for name, text in texts.items()
    }
    return check(model=model, value=value)


def shown_as(model: type[Model], value: Any) -> Model:
    """Return the answer that a value, or several for a list, is shown as."""
    is_bare_list = issubclass(model, Items) and isinstance(value, Sequence)
    return model.model_validate({"items": value} if is_bare_list else value, from_attributes=True)


def is_none(value: Any) -> bool:
    """Say whether a value is None, for `exclude_if` of fields that are only sometimes there."""
    return value is None


def identifier(*, text: str) -> UUID | None:
    """Return the UUID written in the text, None when it is none."""
    return UUID(text) if CANONICAL.match(text) else None


def _read_text(kind: Any, text: str) -> Any:
    """Return what a text of an address means to a field of this type, or the text itself."""
    if kind in _READERS:
        return _READERS[kind](text)
    if get_origin(kind) is tuple:  # an empty part stays, for its type to refuse
        return [_read_text(get_args(kind)[0], part) for part in text.split(",")]
    inner = [part for part in get_args(kind) if part is not NoneType]
    return _read_text(inner[0], text) if inner and get_origin(kind) is not dict else text


def _read_whole(text: str) -> Any:
    """Return the number written in the text; too many digits are simply too large."""
    if DIGITS.match(text):
        return int(text)
    return BEYOND_ALL if MANY_DIGITS.match(text) else text


def _read_number(text: str) -> Any:
    try:
        return float(text[:40])
    except ValueError:
        return text


_READERS: Final[Mapping[Any, Callable[[str], Any]]] = {
    int: _read_whole,
    float: _read_number,
    bool: lambda text: TRUTHS.get(text.lower(), text),
    datetime: lambda text: text.replace(" ", "+") if "T" in text else text,  # a plus sign, decoded
}
_FAULTS: Final = {  # of pydantic, by its type of error: our code and words
    "missing": ("required", "This is missing."),
    "finite_number": ("range", "This must be a number that has an end."),
}
_NULL: Final = {"type": "null"}
_OUTER: Final = ("description", "default", "examples")


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may be null as that of one that is not."""
    choices = schema.get("anyOf", [])
    if _NULL not in choices:
        return schema
    others = [one for one in choices if one != _NULL]
    inner = others[0] if len(others) == 1 else {"anyOf": others}
    return {**inner, **{key: schema[key] for key in schema if key != "anyOf"}}


def _refusal(faults: tuple[FieldError, ...]) -> InvalidInput:
    """Return the refusal of a value; the first fault stands in its message."""
    where = faults[0].pointer or "the body"
    return InvalidInput(
        detail=f"{where}: {faults[0].detail}",
        hint="Correct what `errors` points at and send it again.",
        errors=faults,
    )


def _fault(model: type[BaseModel], error: ErrorDetails) -> FieldError:
    """Translate a fault that pydantic found into our words and codes."""
    kind, place, value, context = error["type"], error["loc"], error["input"], error.get("ctx", {})
    code, detail = _FAULTS.get(kind, (kind, error["msg"]))  # else of our own validators
    if kind == "extra_forbidden":
        allowed = ", ".join(_names(model, place[:-1])) or "none"
        code, detail = "unknown", f"No such field; there are: {allowed}."
    elif kind.endswith("_type"):
        wanted = WANTED[kind.partition("_")[0]]
        code, detail = "type", f"This must be {wanted}, not {_kind(value)}."
    elif kind in {"literal_error", "enum"} and not isinstance(value, str):
        code, detail = "type", f"This must be text, not {_kind(value)}."
    elif kind in {"literal_error", "enum"}:
        code, detail = "choice", _not_one_of(value, re.findall(r"'([^']*)'", context["expected"]))
    elif "_than" in kind:
        code, detail = "range", _out_of_range(context)
    elif kind.endswith(("too_short", "too_long")):
        code, detail = "length", _wrong_length(value, context)
    return FieldError(pointer=_pointer(place), detail=detail, code=code)


def _out_of_range(context: Mapping[str, Any]) -> str:
    ((word, bound),) = context.items()
    side = "least" if word in {"ge", "gt"} else "most"
    number = int(bound) if float(bound).is_integer() else bound
    return f"This must be at {side} {number:,}."


def _wrong_length(value: Any, context: Mapping[str, Any]) -> str:
    least, most = context.get("min_length"), context.get("max_length")
    side, bound = ("least", least) if most is None else ("most", most)
    unit = "character" if isinstance(value, str) else "element"
    units = unit if bound == 1 else f"{unit}s"
    return f"This must have at {side} {bound:,} {units}, not {len(value):,}."


def _names(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Return the names of the fields of the object at a place of a model."""
    for step in place:
        if isinstance(step, str):
            fields = {field.alias or name: field for name, field in model.model_fields.items()}
            model = _model_in(fields[step].annotation) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(kind: Any) -> type[BaseModel] | None:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return next((found for part in get_args(kind) if (found := _model_in(part))), None)


def _pointer(place: tuple[int | str, ...]) -> str:
    return UNSTORABLE.sub("\ufffd", "".join(f"/{str(step)[:LARGEST_NAME]}" for step in place))


def _not_one_of(value: Any, choices: Iterable[str]) -> str:
    return f"{_echo(value)} is not one of: {', '.join(choices)}."


def _echo(value: Any) -> str:
    return repr(str(value)[:LARGEST_ECHO])


def _kind(value: Any) -> str:
    return KINDS.get(type(value), "an object")
