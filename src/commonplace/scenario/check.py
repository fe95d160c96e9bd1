"""Every mistake of a scenario at once, each with its line: of writing, of shape, of meaning."""

from __future__ import annotations

from commonplace.scenario.character_rules import character_rules
from commonplace.scenario.findings import Findings
from commonplace.scenario.mistake import Mistake, report
from commonplace.scenario.model import ScenarioPart
from commonplace.scenario.plain import is_mapping
from commonplace.scenario.reading import Source
from commonplace.scenario.shape import shaped
from commonplace.scenario.story_rules import story_rules
from commonplace.scenario.world_rules import world_rules

__all__ = ["Mistake", "check", "examined", "report"]


def check(source: Source) -> list[Mistake]:
    """All mistakes in the order of lines; empty when the scenario can be run."""
    return examined(source)[1]


def examined(source: Source) -> tuple[ScenarioPart | None, list[Mistake]]:
    """The scenario with what `check` says about it; None instead of it when too little is well-formed."""
    if source.data is None:
        nothing = source.mistake((), "the file is empty", "a scenario; `commonplace new PATH` writes one")
        return None, list(source.faults) or [nothing]
    if not is_mapping(source.data):
        return None, [source.mistake((), "the file holds no keys at its top", "name, world, characters …")]
    part, cut, faults = shaped(source.data)
    mistakes = [*source.faults]
    mistakes += [source.mistake(fault.path, fault.what, fault.expected, fault.nearest) for fault in faults]
    if part is not None:
        findings = Findings(source, part, cut, faults)
        for rules in (world_rules, character_rules, story_rules):
            rules(findings)
        mistakes += findings.mistakes
    return part, sorted(dict.fromkeys(mistakes), key=lambda mistake: mistake.line)
