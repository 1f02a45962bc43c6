"""Sessions of agents and their turns, and what was given out to whom.

A session belongs to who opened it: its audience is that person, or its project when it is shared.
Turns stand under their session and have no audience of their own; they are kept for a while after
what is worth keeping was taken from them. They come in streams: what was said, and beside it what
the agent did. Whoever asks for turns is given what was said, and nothing else.
"""

from typing import Final

from django.db import models
from django.db.models import Q, QuerySet

from accounts.identifiers import new_id

COMPARED = ("control", "passive", "full")  # groups of an experiment


class Session(models.Model):
    """One run of an agent, or one conversation.

    Turns: `taken_through` is the sequence up to which consolidation has looked at them; one that
    comes late moves it back. `result` is what came of them. `read_by` is the job that reads them,
    until when at most. `models_agreed`: its opener lets the models of others read them.

    Events: `events` counts them, `folded` how many the last checkpoint holds; `observed` says what
    they came to, `finalized_at` when that was decided last. `cwd` is the folder in which the agent
    works, `root` that of its repository where it is another one.

    Injection: `briefed_at` and `prefetched_at` are when it was given its one brief, and its one
    plan of files. A brief was looked for with its prompts up to the turn `brief_through`;
    `brief_tries` found nothing. `heading_tokens` were given beside memories. `compacted_at`: when
    its agent last forgot what it was given. `experiment_group` says what it may be given,
    `figures` are the numbers by which groups are compared.

    `reflection` is what its agent was asked before it stopped, None where it was not: when
    (`asked_at`), and on which evidence (`lessons`, until its events are forgotten); or in which
    part before this one it was (`asked_in`).

    `thread` names the piece of work that several sessions may belong to.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey(
        "teams.Project", null=True, on_delete=models.PROTECT, related_name="sessions"
    )
    audience = models.UUIDField()
    scope = models.CharField(max_length=12)
    external_id = models.CharField(max_length=200, blank=True)
    thread = models.CharField(max_length=200, blank=True)
    type = models.CharField(max_length=40, blank=True)
    phase = models.CharField(max_length=20, blank=True)
    methodology = models.CharField(max_length=40, blank=True)
    work_unit = models.JSONField(default=dict)
    opened_by = models.UUIDField(null=True)
    token_id = models.UUIDField(null=True)
    agent = models.CharField(max_length=120, blank=True)
    source_interface = models.CharField(max_length=20)
    memory_eligible = models.BooleanField(default=True)
    models_agreed = models.BooleanField(default=False)
    state = models.CharField(max_length=12, default="open")
    opened_at = models.DateTimeField()
    active_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    consolidated_at = models.DateTimeField(null=True)
    taken_through = models.PositiveIntegerField(default=0)
    result = models.JSONField(default=dict)
    read_by = models.UUIDField(null=True)
    read_until = models.DateTimeField(null=True)
    cwd = models.CharField(max_length=400, blank=True, default="", db_default="")
    root = models.CharField(max_length=400, blank=True, default="", db_default="")
    branch = models.CharField(max_length=200, blank=True, default="", db_default="")
    commit = models.CharField(max_length=64, blank=True, default="", db_default="")
    plan = models.JSONField(null=True)
    events = models.PositiveIntegerField(default=0, db_default=0)
    folded = models.PositiveIntegerField(default=0, db_default=0)
    observed = models.JSONField(null=True)
    finalized_at = models.DateTimeField(null=True)
    briefed_at = models.DateTimeField(null=True)
    prefetched_at = models.DateTimeField(null=True)
    brief_tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    brief_through = models.PositiveIntegerField(default=0, db_default=0)
    heading_tokens = models.PositiveIntegerField(default=0, db_default=0)
    compacted_at = models.DateTimeField(null=True)
    experiment_group = models.CharField(max_length=8, blank=True, default="", db_default="")
    figures = models.JSONField(null=True)
    reflection = models.JSONField(null=True)

    class Meta:
        db_table = "memory_agentsession"  # an index of memories has the shorter name
        constraints = (
            models.UniqueConstraint(
                fields=("audience", "project", "external_id"),
                condition=~Q(external_id=""),
                nulls_distinct=False,
                name="memory_session_external_id_once",
            ),
        )
        indexes = (
            models.Index(fields=("audience", "-opened_at", "id"), name="memory_session_recent"),
            models.Index(
                fields=("active_at",), condition=Q(state="open"), name="memory_session_open"
            ),
            models.Index(fields=("thread",), condition=~Q(thread=""), name="memory_session_thread"),
            models.Index(
                fields=("project", "opened_at"),
                condition=Q(experiment_group__in=COMPARED),
                name="memory_session_compared",
            ),
            models.Index(
                fields=("project", "opened_at"),
                condition=~Q(phase=""),
                name="memory_session_phases",
            ),
        )
        ordering = ("-opened_at", "id")


class Stream(models.IntegerChoices):
    """What a turn tells: what somebody said, what the agent did, or what its doing came to.

    The last is what the session has added to the sums of its place, so that it is known.
    """

    SAID = 0
    DONE = 1
    CHECKPOINT = 2
    COUNTED = 3


class StreamTurns(models.Manager["Turn"]):
    """The turns of one stream; Django makes related managers without naming any."""

    def __init__(self, stream: Stream = Stream.SAID) -> None:
        super().__init__()
        self.stream = stream

    def get_queryset(self) -> QuerySet["Turn"]:
        return super().get_queryset().filter(stream=self.stream)


OF_PROGRAM: Final = "of_program"  # in the body of a turn that hooks of a known program told


class Turn(models.Model):
    """What one side said; `masked` counts the secrets that were taken out before it was stored.

    In the stream of what was said `body` marks what an agent's program told itself (`OF_PROGRAM`).
    In the stream of what was done `body` is the event; the text of a checkpoint is the scratchpad
    as JSON, and its sequence the last event that is in it. `body` of what was counted is as
    `memory.sessions.counters.Added`. The table has a column `words` besides, which fills itself
    and is read by `memory/sessions/sql/sessions.sql` alone.
    """

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, db_index=False, related_name="turns"
    )
    stream = models.PositiveSmallIntegerField(
        choices=Stream.choices, default=Stream.SAID, db_default=Stream.SAID
    )
    sequence = models.PositiveIntegerField()
    role = models.CharField(max_length=12)
    text = models.TextField()
    body = models.JSONField(null=True)
    masked = models.PositiveSmallIntegerField(default=0)
    at = models.DateTimeField()

    objects = StreamTurns(Stream.SAID)
    done = StreamTurns(Stream.DONE)
    checkpoints = StreamTurns(Stream.CHECKPOINT)  # what spares reading events again, one a session
    counted = StreamTurns(Stream.COUNTED)  # what it has added to the sums of its place, one
    all_streams = models.Manager["Turn"]()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("session", "stream", "sequence"), name="memory_turn_once"
            ),
        )
        ordering = ("session", "stream", "sequence")


class GivenRows(models.Manager["GivenOut"]):
    """What was given, without what was withheld."""

    def get_queryset(self) -> QuerySet["GivenOut"]:
        return super().get_queryset().filter(withheld=False)


class GivenOut(models.Model):
    """That a memory was given to somebody, and when last; written by the merge of the access log.

    The person and the token they came with; one of the two may be missing. A row with a session is
    one of its delivery log: the memory was given to its agent, at which point, for how many tokens,
    and what came of it. `after_row` is the highest id of a turn that was stored then: a turn of the
    session with a higher one came later, whatever number or clock its client gave it. `after_event`
    is the highest sequence of what the agent had done: the place where it is shown. `agent` is
    which of several in a session got it, empty for the first, and `compacted_at` that of the
    session then: who has forgotten it may get it once more. What was `withheld` would have been
    given but for an experiment; it names nobody. Without foreign keys: the echo guard reads all.
    """

    person = models.UUIDField(null=True)
    token = models.UUIDField(null=True)
    memory_id = models.UUIDField()
    at = models.DateTimeField()
    session_id = models.UUIDField(null=True)
    point = models.CharField(max_length=20, blank=True, default="", db_default="")
    tokens = models.PositiveIntegerField(default=0, db_default=0)
    withheld = models.BooleanField(default=False, db_default=False)
    outcome = models.CharField(max_length=12, blank=True, default="", db_default="")
    after_event = models.PositiveIntegerField(null=True)
    after_row = models.BigIntegerField(null=True)
    agent = models.CharField(max_length=80, blank=True, default="", db_default="")
    compacted_at = models.DateTimeField(null=True)

    objects = GivenRows()
    all_rows = models.Manager["GivenOut"]()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=(
                    "memory_id",
                    "person",
                    "token",
                    "session_id",
                    "agent",
                    "compacted_at",
                ),
                nulls_distinct=False,
                name="memory_given_out_once",
            ),
        )
        indexes = (
            models.Index(fields=("person", "-at"), name="memory_given_person"),
            models.Index(fields=("token", "-at"), name="memory_given_token"),
            models.Index(fields=("at",), name="memory_given_at"),
            models.Index(
                fields=("session_id",),
                condition=Q(session_id__isnull=False),
                name="memory_given_session",
            ),
        )
        ordering = ("id",)


class Statistic(models.Model):
    """The sums of one thing: `counts` by name, whole numbers, or exact decimals as text.

    One table for all that is counted over time by kind, place, day and key: what models cost, what
    sessions show of files. A place is an audience and a project, so whoever may see the audience
    may see the sums. Rows are added to in one statement (`memory/sessions/sql/sessions.sql`), so no
    count is ever lost.

    `notes` under it is an object of anything else that is known of the thing; the newest stands.
    """

    kind = models.CharField(max_length=24)
    audience = models.UUIDField()
    project_id = models.UUIDField(null=True)
    day = models.DateField(null=True)
    key = models.CharField(max_length=400)
    counts = models.JSONField(default=dict)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("kind", "audience", "project_id", "day", "key"),
                nulls_distinct=False,
                name="memory_statistic_once",
            ),
        )
        indexes = (
            models.Index(fields=("kind", "project_id", "day"), name="memory_statistic_kind"),
        )
        ordering = ("kind", "day", "key", "id")
