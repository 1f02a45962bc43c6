"""Another way to read a text costs what is looked at, and remembers where it came from."""

from base64 import b64encode

from hypothesis import given
from hypothesis import strategies as st

from memory.secrets import secret_forms, secrets
from memory.secrets.secret_rules import Match
from memory.secrets.secrets import Finding, SecretKind

WRITTEN = st.lists(
    st.sampled_from(["a", "b c", "%41", "\\n", "\u200b", "\uff21", "&amp;", "\\u0042", "\n", "é"])
).map("".join)
ENDS = [
    "aaaaaaaa",
    "b+c/d.e=",
    "a\n",
    "\n",
    "\r\n",
    " ",
    "\t",
    "'",
    '"',
    "\\",
    "+",
    ".",
    "> ",
    "# ",
    "é",
]
PASSWORD = "Tractor!4711vio"


def findings(*spans: tuple[int, int]) -> tuple[Finding, ...]:
    """Return findings at these places."""
    return tuple(
        Finding(kind=SecretKind.ASSIGNED_SECRET, start=start, end=end) for start, end in spans
    )


def test_where_a_form_came_from_is_put_down_once_something_is_found() -> None:
    (form,) = secret_forms.forms(text="%61 " * 1_000)
    assert form.pieces is not None
    asked = vars(form.pieces)

    assert list(asked) == ["_made"]
    assert form.span(0, 1) == (0, 3)
    assert len(asked["_all"]) == 2_000


def test_two_ways_that_read_alike_are_looked_at_once() -> None:
    broken = "aaaaaaaa\nbbbbbbbb %41"  # joined and then unescaped, or the other way round
    looked: list[str] = []

    def catalog(text: str) -> tuple[Match, ...]:
        looked.append(text)
        return ()

    secrets.find(text=broken, catalog=catalog)

    assert len(looked) == len(set(looked)) == 4


def test_of_two_that_read_alike_each_is_found_where_it_stands() -> None:
    hidden = b64encode(b'password = "hunter2-Xy77"').decode().rstrip("=")
    escaped = "".join(f"%{ord(sign):02X}" for sign in hidden)
    text = f"first {hidden}\u200bzz and then {escaped} end"

    found = secrets.find(text=text, catalog=lambda _: ())

    assert [text[one.start : one.end] for one in found] == [hidden, escaped]


@given(st.lists(st.sampled_from(ENDS), max_size=24).map("".join))
def test_broken_lines_are_found_by_their_ends_wherever_they_are(text: str) -> None:
    joined = secret_forms.BROKEN_LINE.sub("", text)

    forms = [form for form in secret_forms.forms(text=text) if form.is_joined]

    plain = [form for form in forms if form.parent is not None and form.parent.parent is None]
    assert [form.text for form in plain] == ([joined] if joined != text else [])
    for form in plain:
        spans = [form.span(at, at + 1) for at in range(len(joined))]
        assert [text[start:end] for start, end in spans] == list(joined)


@given(WRITTEN)
def test_each_character_of_a_form_came_from_a_part_of_the_text(text: str) -> None:
    for form in secret_forms.forms(text=text):
        spans = [form.span(at, at + 1) for at in range(len(form.text))]

        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert spans == sorted(spans)


@given(st.lists(st.sampled_from(["a", "\n", "é"])).map("".join), st.sets(st.integers(0, 40)))
def test_places_are_lines_and_columns_as_an_editor_counts_them(text: str, at: set[int]) -> None:
    starts = [start for start in sorted(at) if start < len(text)]

    told = secrets.places(text=text, findings=findings(*((one, one + 1) for one in starts)))

    lines = [text[:start].split("\n") for start in starts]
    assert [(one.line, one.column) for one in told] == [
        (len(before), len(before[-1]) + 1) for before in lines
    ]


def test_what_is_found_is_taken_out_and_the_rest_stays() -> None:
    text = "one two three"
    found = findings((0, 3), (8, 13))

    assert secrets.redact(text=text, findings=found).count("[redacted: assigned_secret]") == 2
    assert secrets.leave_out(text=text, findings=found) == "two"


def test_a_secret_in_signs_of_another_width_is_found_where_it_stands() -> None:
    wide = "".join(chr(ord(sign) + 0xFEE0) for sign in PASSWORD)
    text = f"é password={wide} é"

    (found,) = secrets.find(text=text, catalog=lambda _: ())

    assert text[found.start : found.end] == wide
