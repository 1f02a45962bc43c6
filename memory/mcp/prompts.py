"""The prompts that an agent's person can call up: a checklist before a plan, a look back after.

A prompt is called up by a person, so no hook switches it. The checklist is a search like any other
and stands in no session's ledger. The look back asks the agent what it is asked when it stops.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from mcp_types import Prompt, PromptArgument

from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound, wrong_field
from accounts.messages import message
from memory.customization.phases import Phase
from memory.injection.rules import CHECKED
from memory.observer.actions import reflection
from memory.search.context import ContextRequest, context
from memory.search.request import LONGEST_QUERY, SearchRequest
from memory.sessions.actions import binding

BUDGET: Final = 1_200  # tokens of a checklist, ours
ASKS: Final = "Before you plan, go through this list; say for each item how the plan deals with it."
NOTHING: Final = "Nothing is recorded that bears on this plan."


PRE_BRIEF: Final = Prompt(
    name="pre-brief",
    title="Checklist before a plan",
    description="What must hold, what failed before and what changes together, for a task you "
    "plan.",
    arguments=[
        PromptArgument(name="task", description="The task, in a sentence.", required=True),
        PromptArgument(name="project", description="The project's slug or id.", required=False),
    ],
)
REFLECT: Final = Prompt(
    name="reflect",
    title="Lessons of this session",
    description="Asks the agent whether what its running session showed is a lesson for others.",
    arguments=[
        PromptArgument(name="project", description="The project's slug or id.", required=False),
    ],
)
NO_LESSON: Final = "Nothing in your running session looks like a lesson; record none."


def fill_in(
    *, prompt: Prompt, caller: Caller, given: Mapping[str, str], project: str | None, now: datetime
) -> str:
    """Return the text of a prompt. Raises InvalidInput naming the argument, NotFound, Forbidden."""
    if prompt is REFLECT:
        named = given.get("project") or project
        return reflection.ask_again(caller=caller, project=named, now=now) or NO_LESSON
    return pre_brief(caller=caller, given=given, project=project, now=now)


PROMPTS: Final[Mapping[str, Prompt]] = {one.name: one for one in (PRE_BRIEF, REFLECT)}


def pre_brief(
    *, caller: Caller, given: Mapping[str, str], project: str | None, now: datetime
) -> str:
    """Return the checklist of a task as text.

    Raises InvalidInput naming the argument, NotFound for a project the caller cannot see.
    """
    search = SearchRequest(
        query=_task(given),
        project=given.get("project") or project,
        types=tuple(type.value for type in CHECKED),
    )
    request = ContextRequest(
        search=binding.in_work(caller=caller, asked=search),
        phase=Phase.DEFINE.value,
        budget_tokens=BUDGET,
        style=False,
    )
    found = context(caller=caller, request=request, now=now).text
    return f"{ASKS}\n\n{found}" if found else NOTHING


def find_prompt(*, name: str, given: Mapping[str, str]) -> Prompt:
    """Return a prompt. Raises NotFound, and InvalidInput for an argument it does not take."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise NotFound(
            detail=message("There is no prompt {name!r}.", name=name[:80]),
            hint=message("There are: {names}.", names=tuple(PROMPTS)),
        )
    names = tuple(one.name for one in prompt.arguments or ())
    unknown = sorted(set(given).difference(names))
    if unknown:
        raise InvalidInput(
            detail=message("This prompt takes no {name!r}.", name=unknown[0][:80]),
            hint=message("There are: {names}.", names=names),
        )
    return prompt


def _task(given: Mapping[str, str]) -> str:
    task = given.get("task", "").strip()
    if not 1 <= len(task) <= LONGEST_QUERY:
        raise wrong_field(
            pointer="/task",
            detail="Say in a sentence what you plan.",
            code="required" if not task else "length",
        )
    return task
