"""What is kept of a file holds no secret, and finding that out has an end."""

from graph.code import values
from graph.code.languages import Language
from graph.code.values import NodeKind, Parsed, Reference, ReferenceKind, Symbol


class Eye:
    """Takes what says so for a secret, and counts how often it looked."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self, text: str) -> bool:
        self.looks += 1
        return "hidden" in text


def test_names_of_secrets_are_left_out_with_what_refers_to_them() -> None:
    eye = Eye()
    parsed = _parsed(("open_gate", "hidden_1", "close_gate"), ("total", "hidden_2", "open_gate"))

    left = values.without_secrets(parsed=parsed, is_secret=eye)
    again = Eye()

    assert values.without_secrets(parsed=left, is_secret=again) is left
    assert again.looks == 1  # a file without secrets is looked at once
    assert [one.name for one in left.symbols] == ["open_gate", "close_gate"]
    assert [one.target for one in left.references] == ["total", "open_gate"]


def test_one_secret_among_many_is_found_by_halves_and_a_file_full_of_them_is_left() -> None:
    eye, tired = Eye(), Eye()
    names = tuple(f"name_{number}" for number in range(20_000))
    hidden = tuple(f"hidden_{number}" for number in range(20_000))

    left = values.without_secrets(parsed=_parsed((), (*names, "hidden")), is_secret=eye)
    none = values.without_secrets(parsed=_parsed(hidden[:5_000], hidden), is_secret=tired)

    assert [one.target for one in left.references] == list(names)
    assert eye.looks < 40
    assert (none.symbols, none.references) == ((), ())
    assert tired.looks <= values.MOST_LOOKS


def _parsed(symbols: tuple[str, ...], targets: tuple[str, ...]) -> Parsed:
    return Parsed(
        language=Language.PYTHON,
        lines=1,
        symbols=tuple(
            Symbol(kind=NodeKind.FUNCTION, name=name, qualified=name, first_line=1, last_line=1)
            for name in symbols
        ),
        references=tuple(
            Reference(kind=ReferenceKind.CALLS, source="", target=target, line=1)
            for target in targets
        ),
    )
