"""Read the bodies of OpenAI's protocol strictly; pure.

In the flow: `openai_compatible` passes the bytes of an answer. What is not where the protocol
puts it is ProviderInvalidAnswer.
"""

from collections.abc import Mapping, Sequence

from accounts.messages import message as sentence
from memory.providers import answers
from memory.providers.contracts import ChatAnswer, Provider
from memory.providers.errors import ProviderInvalidAnswer, ProviderRefused
from memory.providers.guard import Metered

NAME = Provider.OPENAI_COMPATIBLE


def embeddings(*, body: str, model: str) -> Metered[Sequence[object]]:
    """Return the rows in the order of their index, and the tokens used.

    Raises:
        ProviderInvalidAnswer: not an answer of the protocol, or one of another model.
    """
    answer = answers.json_object(text=body, provider=NAME)
    _check_model(str(answer.get("model") or ""), model)
    data = answer.get("data")
    if not isinstance(data, list):
        raise _lacks("data")
    rows: dict[object, object] = {}
    for place, entry in enumerate(data):
        if not isinstance(entry, dict) or "embedding" not in entry:
            raise _lacks(f"data[{place}].embedding")
        rows[entry.get("index", place)] = entry["embedding"]
    if rows.keys() != set(range(len(data))):
        raise _lacks(sentence("one index for each embedding"))
    ordered = tuple(rows[place] for place in range(len(data)))
    return Metered(value=ordered, tokens=_tokens(answer, "total_tokens"))


def chat(*, body: str) -> ChatAnswer:
    """Return the JSON object that the model wrote, not yet checked against a schema.

    Raises:
        ProviderInvalidAnswer: not an answer of the protocol, cut off, or not JSON.
        ProviderRefused: the model declined.
    """
    answer = answers.json_object(text=body, provider=NAME)
    choice = _first_choice(answer)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise _lacks("choices[0].message")
    if message.get("refusal"):
        raise ProviderRefused(
            detail="The model declined to answer.", provider=NAME, hint="Ask in another way."
        )
    if choice.get("finish_reason") == "length":
        raise _lacks(sentence("its end: the output limit cut it off"))
    content = message.get("content")
    if not isinstance(content, str):
        raise _lacks("choices[0].message.content")
    return ChatAnswer(
        data=answers.json_object(text=content, provider=NAME),
        model=str(answer.get("model") or ""),
        input_tokens=_tokens(answer, "prompt_tokens"),
        output_tokens=_tokens(answer, "completion_tokens"),
    )


def _first_choice(answer: Mapping[str, object]) -> Mapping[str, object]:
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _lacks("choices[0]")
    return choices[0]


def _check_model(answered: str, asked: str) -> None:
    """Accept a version or tag behind the name ("name-2", "name:latest"), nothing else."""
    if answered and not answered.startswith(asked) and not asked.startswith(answered):
        raise ProviderInvalidAnswer(
            detail=sentence(
                "{provider} embedded with another model than {asked!r}.", provider=NAME, asked=asked
            ),
            provider=NAME,
            hint="Vectors of two models must not be mixed: set the name that the server answers.",
        )


def _tokens(answer: Mapping[str, object], name: str) -> int:
    usage = answer.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and 0 <= count < 10**9 else 0


def _lacks(what: str) -> ProviderInvalidAnswer:
    detail = sentence("The answer of {provider} lacks {what}.", provider=NAME, what=what)
    return ProviderInvalidAnswer(detail=detail, provider=NAME)
