"""A memory: what is sent to store and change one, and how one is answered.

Content is bounded loosely here: the length gate says its own bounds, with a hint, and in a bulk it
refuses one memory instead of the whole request. Bounds of the other fields are the columns'.
"""

from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field

from accounts.api import schemas
from accounts.caller import Caller, is_person
from memory.customization.custom_type_rules import FORM, LONGEST
from memory.intake.actions import remember as intake
from memory.intake.validation import LARGEST_LINE
from memory.records.queries.memories import VersionView
from memory.records.queries.views import Contradiction, MemoryView
from memory.review.actions.corrections import KINDS
from memory.taxonomy import MemoryType, Reach, Scope, Source, Status, Verdict

SHOWN_DIGITS = 4  # of confidences and values between 0 and 1
LARGEST_CONTENT = 100_000  # characters
Content = Annotated[str, Field(max_length=LARGEST_CONTENT)]
Kind = Annotated[str, schemas.ChoiceOrForm(MemoryType, form=FORM, most=LONGEST)]
ShownStatus = Annotated[str, schemas.OneOf(one for one in Status if one is not Status.DELETED)]
Tags = Annotated[
    schemas.Several[Annotated[schemas.Name, Field(max_length=64)]], Field(max_length=64)
]
Files = Annotated[
    schemas.Several[Annotated[schemas.Name, Field(max_length=400)]], Field(max_length=64)
]
Modules = Annotated[
    schemas.Several[Annotated[schemas.Name, Field(max_length=200)]], Field(max_length=64)
]
Slug = Annotated[schemas.Name, Field(max_length=64)]  # or an id
ConversationId = Annotated[str, Field(max_length=200)]
Position = Annotated[int, Field(ge=0, le=LARGEST_LINE)]
Reason = Annotated[str, Field(max_length=200)]
Rounded = Annotated[float, AfterValidator(lambda value: round(value, SHOWN_DIGITS))]
Absent = BeforeValidator(lambda value: value or None)  # an empty text is answered as null


class ProjectQuery(schemas.Query):
    """A project that is asked about."""

    project: Slug | None = Field(None, description="A project's slug or id.")


class ProjectPageQuery(ProjectQuery, schemas.PageQuery):
    """A project whose list is asked for, page by page."""


class MemoryFields(schemas.Body):
    """What a memory is made of."""

    content: Content = Field(
        description="One statement worth keeping.",
        examples=["The cart service caches prices for 60 s; tests must clear it first."],
    )
    type: Kind | None = Field(
        None, description="What it is about; found by itself when left out.", examples=["gotcha"]
    )
    external_id: str = Field(
        "",
        max_length=200,
        description="Your own id, unique in a project: upserts.",
        examples=["cart-cache"],
    )
    tags: Tags = Field((), description="Words to find it by.", examples=[["cart", "cache"]])
    related_files: Files = Field((), description="Paths it is about.", examples=[["cart/cache.py"]])
    related_modules: Modules = Field((), description="Modules it is about.")
    scope: schemas.Choice[Scope] | None = Field(
        None, description="Who sees it; the project, when there is one."
    )
    team: Slug | None = Field(None, description="The team's slug, for the scope team.")
    attributes: schemas.Free = Field({}, description="The typed payload of some types.")
    confidence: float | None = Field(None, ge=0, le=1, description="How sure, 0 to 1.")
    confidence_floor: float = Field(
        0.0, ge=0, le=1, description="The confidence below which age alone does not take it."
    )
    pinned: bool = Field(False, description="Whether it never fades.")
    event_at: schemas.Moment | None = Field(None, description="When it happened.")
    reach: schemas.Choice[Reach] = Field(Reach.GLOBAL, description="Where in the work it applies.")
    phase: str = Field("", max_length=20, description="The phase of work.")
    methodology: str = Field("", max_length=40, description="The methodology.")
    source: (
        Annotated[str, schemas.OneOf(one for one in Source if one is not Source.USER_TAUGHT)] | None
    ) = Field(None, description="How it was learned.")  # a person's word is its own
    source_uri: str = Field("", max_length=500, description="Where it was found.")
    source_line: int | None = Field(None, ge=0, le=LARGEST_LINE, description="The line there.")
    commit_sha: str = Field("", max_length=64, description="The commit it was true at.")
    thread: ConversationId = Field("", description="Your id of the conversation it comes from.")
    session: ConversationId = Field("", description="Your id of the sitting of that conversation.")
    position: Position | None = Field(
        None, description="Its place there: the turns beside it count for it."
    )


class NewMemory(MemoryFields):
    """A memory to store."""

    project: Slug | None = Field(None, description="A project's slug or id.", examples=["shop"])

    def made_for(self, caller: Caller, *, project: str | None = None) -> intake.NewMemory:
        """Return the value of it; `project` stands in when it names none."""
        usual = Source.USER_TAUGHT if is_person(caller=caller) else Source.AGENT_EXPLICIT
        own = {"project": self.project or project, "source": self.source or usual.value}
        return intake.NewMemory(**{**dict(self), **own})


class NewMemories(schemas.Body):
    """Memories to store together."""

    project: Slug | None = Field(None, description="A project's slug or id.", examples=["shop"])
    memories: schemas.Several[
        Annotated[NewMemory | schemas.FaultyItem, schemas.Alone(NewMemory)]
    ] = Field(
        max_length=1_000,
        description="At most 1,000; a memory may name another project of its own.",
        examples=[[{"content": "The cart service caches prices for 60 s."}, {"content": "Hmm."}]],
    )


class MemoryChanges(schemas.Changes):
    """What is to change about a memory."""

    content: Content = schemas.unsent(description="The new text.")
    type: Kind = schemas.unsent(description="The new type.")
    external_id: str = schemas.unsent(max_length=200, description="Your own id.")
    tags: Tags = schemas.unsent(
        description="All tags from now on.", examples=[["cart", "cache", "tests"]]
    )
    related_files: Files = schemas.unsent(description="All paths from now on.")
    related_modules: Modules = schemas.unsent(description="All modules from now on.")
    scope: schemas.Choice[Scope] = schemas.unsent(description="Who sees it.")
    team: Slug = schemas.unsent(description="The team's slug, for the scope team.")
    pinned: bool = schemas.unsent(description="Whether it never fades.")
    attributes: schemas.Free = schemas.unsent(description="The typed payload.")
    reason: Reason = schemas.unsent(
        description="Why, for the history.", examples=["also about tests"]
    )


class CorrectionOfMemory(schemas.Body):
    """What is right instead of a memory."""

    content: Content = Field(
        description="What is right.",
        examples=["The cart service caches prices for 5 s since version 3."],
    )
    kind: Annotated[str, schemas.OneOf(KINDS)] = Field(
        "wrong", description="What was wrong.", examples=["outdated"]
    )
    reason: Reason = Field("", description="Why, for the history.")
    scope: Annotated[str, schemas.OneOf(one for one in Scope if one is not Scope.TEAM)] | None = (
        Field(None, description="Who sees the corrected one; else whoever saw the wrong one.")
    )


class Pin(schemas.Body):
    """Whether a memory is pinned."""

    pinned: bool = Field(True, description="Or let go.", examples=[True])


class Contradicting(schemas.Result):
    """The other side of a contradiction."""

    id: UUID = Field(validation_alias="memory_id")
    type: str
    citation: str
    content: str
    conflict_id: UUID | None


@schemas.fields_of(MemoryView, hidden={"project_slug", "stated_at"})
class Memory(schemas.Result):
    """The memory; `project` is its slug, null for none.

    What contradicts it is there only where something does.
    """

    resource: ClassVar = schemas.Resource("memories/{id}", "/id", "/version")
    project: Annotated[str | None, Absent] = Field(validation_alias="project_slug")
    confidence: Rounded
    effective_confidence: Rounded
    importance: Rounded
    surprise: Rounded
    decay_half_life_days: Rounded | None
    contradictions: tuple[Contradicting, ...] = Field((), exclude_if=lambda sides: not sides)


class MemoryPage(schemas.Page[Memory]):
    """A page of memories."""


@schemas.fields_of(intake.Outcome, hidden={"done"})
class Remembered(schemas.Result):
    """What became of a memory that was sent."""

    resource: ClassVar = schemas.Resource("memories/{id}", "/memory/id", "/memory/version")
    outcome: Literal["added", "confirmed", "known", "updated", "proposed", "refused"]
    memory: Memory
    embedding: Literal["stored", "queued", "none"]
    operation: Literal["", "supersedes", "contradicts", "extend", "derive", "similar"]

    @classmethod
    def of(cls, outcome: intake.Outcome, *, is_embedded: bool) -> "Remembered":
        """Show an outcome; `is_embedded` says that its job has ended well since."""
        shown = cls.model_validate(outcome)
        if not is_embedded:
            return shown
        memory = shown.memory.model_copy(update={"embedded": True})
        return shown.model_copy(update={"embedding": "stored", "memory": memory})


class Named(schemas.Result):
    """A memory by its ids."""

    id: UUID
    external_id: str


class RememberedOne(schemas.Result):
    """What became of one memory of many."""

    outcome: Literal["added", "confirmed", "known", "updated", "proposed", "refused"]
    memory: Named | None
    gate: str
    reason: str
    hint: str


class RememberedAll(schemas.Result):
    """An outcome a memory, in order."""

    outcomes: tuple[RememberedOne, ...]
    job_id: UUID | None


@schemas.fields_of(VersionView)
class Version(schemas.Result):
    """What a memory said at some time."""


class Versions(schemas.Items[Version]):
    """The versions of a memory, the present one first."""


def with_sides(view: MemoryView, sides: tuple[Contradiction, ...]) -> Memory:
    """Show a memory with what contradicts it, so that no side is told alone."""
    shown = Memory.model_validate(view)
    if not sides:
        return shown
    others = tuple(Contradicting.model_validate(side) for side in sides)
    return shown.model_copy(update={"contradictions": others})


class Decided(schemas.Result):
    """The verdict, and the memory as it is now."""

    review_id: UUID
    verdict: Verdict
    memory: Memory


class Snooze(schemas.Body):
    """How long something does not wait for a decision."""

    until: schemas.Moment = Field(
        description="When it waits again, in a year at most.", examples=["2026-12-01T08:00:00Z"]
    )
