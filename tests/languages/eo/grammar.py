"""Esperanto: one article, one ending for what something is done to, and no exceptions."""

from __future__ import annotations

import re

from commonplace.languages.language import Language, Slots

_START = re.compile(r"(?:^|(?<=[.!?] ))\w")
_HOURS = ["dekdua", "unua", "dua", "tria", "kvara", "kvina", "sesa", "sepa", "oka", "naŭa", "deka", "dekunua"]


class Esperanto(Language):
    """Esperanto."""

    english_name = "Esperanto"

    def clock(self, time: str) -> str:
        hour, minute = int(time[:2]), int(time[3:5])
        return f"la {_HOURS[hour % 12]}{f' kaj {minute}' if minute else ''}"

    def at_time(self, time: str) -> str:
        return f"je {self.clock(time)}"

    def when(self, moment: str, minutes_ago: int) -> str:
        if minutes_ago <= 15:
            return "ĵus"
        hours, minutes = int(moment[11:13]), int(moment[14:16])
        return "hodiaŭ" if minutes_ago <= 60 * hours + minutes else "antaŭe"

    def at(self, name: str) -> str:
        return f"ĉe {name}" if name else ""

    def possessed(self, called: str) -> str:
        return f"de {called}"

    def both(self, topics: list[str]) -> str:
        return " kaj ".join(topics)

    def is_doing(self, text: str) -> bool:
        return text.split(" ", 1)[0].endswith("anta")

    def doing(self, doing: str, key: str = "doing") -> Slots:
        return {key: doing, "short": doing if len(doing) <= 24 else ""}

    def finished(self, text: str) -> str:
        return _START.sub(lambda found: found[0].upper(), super().finished(text))


GRAMMAR = Esperanto()
