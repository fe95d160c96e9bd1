"""The values a template is given: the typed input, escaped, and what has been made ready to be read.

`given` is the typed input as in `commonplace.minds.tasks`; the other names are listed in docs/prompts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from commonplace.minds.mind import Ask
from commonplace.minds.prompts.prompt import Setting
from commonplace.minds.prompts.scenes.planning import perceive_event, plan_day, plan_parts
from commonplace.minds.prompts.scenes.reacting import act, react
from commonplace.minds.prompts.scenes.recalling import Values
from commonplace.minds.prompts.scenes.reflecting import insights, questions, rate, relate
from commonplace.minds.prompts.scenes.talking import answer, converse, duet, panel
from commonplace.minds.prompts.telling import escaped, plain, teller_of

LONGEST_BACKGROUND = 4000
"""Characters, as many as a scenario takes."""
SCENES: Mapping[str, Callable[[Any, Setting, int], Values]] = {
    "rate": rate,
    "plan_day": plan_day,
    "plan_hours": plan_parts,
    "plan_minutes": plan_parts,
    "react": react,
    "act": act,
    "converse": converse,
    "questions": questions,
    "insights": insights,
    "relate": relate,
    "duet_turn": duet,
    "answer": answer,
    "panel_turn": panel,
    "perceive_event": perceive_event,
}
"""By task; what is returned stands beside `given`, `me`, `home`, `background` and `setting`."""


def values(ask: Ask[Any, Any], setting: Setting, drop: int = 0) -> Values:
    """All values of a task's template. `drop`: leave out so many of the memories that scored lowest."""
    given = ask.input
    base: Values = {"given": escaped(given.model_dump(mode="json")), "memories": [], "setting": _world(setting)}
    if hasattr(given, "who"):
        base["me"] = base["given"]["who"]
        base["background"] = capital(teller_of(given, setting).bare(given.who.background, LONGEST_BACKGROUND))
        base["home"] = plain(setting.names.get(given.who.home, given.who.home))
    return base | SCENES[ask.task.name](given, setting, drop)


def _world(setting: Setting) -> Values:
    return {"title": plain(setting.title), "places": [plain(name) for _, name in setting.places]}


def capital(text: str) -> str:
    """With its first letter raised."""
    return text[:1].upper() + text[1:]
