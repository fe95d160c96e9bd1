"""A Korean town remembers in Korean."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from cognition.hamlet import Town
from commonplace.cognition.sentences import sentence
from commonplace.minds.mind import RequestKey
from commonplace.minds.tasks import ReactInput, ReactOutput
from commonplace.scenario.compiling import compiled_from_text
from commonplace.scenario.scenario import Scenario
from commonplace.testing import ScriptedMind

LATIN = re.compile("[A-Za-z]")


def _somebody(agent: str, name: str, called: str, home: str) -> dict[str, Any]:
    return {
        "id": agent,
        "name": name,
        "called": called,
        "age": 30,
        "pronoun": "she",
        "work": "국숫집 주인",
        "traits": ["다정함"],
        "background": "골목에서 국숫집을 한다.",
        "goals": ["새 국물을 만든다"],
        "home": home,
        "starts_at": "alley",
        "routine": [
            {"at": "06:00", "place": home, "do": "아침을 먹는 중"},
            {"at": "06:30", "place": "shop", "do": "국물을 내는 중"},
            {"at": "11:00", "place": "shop", "do": "국수를 삶는 중"},
            {"at": "15:00", "place": "alley", "do": "바람을 쐬는 중"},
            {"at": "22:00", "place": home, "do": "잠을 자는 중"},
        ],
    }


def _scenario() -> Scenario:
    shop = {"id": "shop", "name": "국숫집", "objects": [{"id": "pot", "name": "솥", "kind": "pot"}]}
    document = {
        "name": "golmok",
        "language": "ko",
        "clock": {"start": "2031-10-04T06:00:00", "tick_minutes": 5},
        "world": {
            "root": {"id": "alley", "name": "골목", "outdoor": True, "areas": [shop, {"id": "house", "name": "집"}]},
            "kinds": {"pot": {"states": ["cold", "hot"], "words": {"cold": "식어 있다", "hot": "끓고 있다"}}},
        },
        "characters": [
            _somebody("sora", "한소라", "소라", "house"),
            _somebody("jun", "박준", "준", "house"),
        ],
    }
    return compiled_from_text(json.dumps(document, ensure_ascii=False), "golmok")


def _greeting(given: ReactInput, request_key: RequestKey) -> ReactOutput:
    hearers = [person.id for person in given.situation.people if person.can_be_spoken_to]
    if not hearers:
        return ReactOutput(decision="keep")
    words = f"{request_key.tick}번째 인사예요."
    return ReactOutput(decision="talk", target=hearers[0], purpose="greet", utterance=words, reason="반가워서")


def test_what_is_remembered_is_korean_with_its_particles_decided() -> None:
    town = Town(_scenario(), ScriptedMind({"react": _greeting})).live(16)
    texts = [text for agent in ("sora", "jun") for text in town.texts(agent)]
    assert len(set(texts)) > 15
    for text in texts:
        assert not LATIN.search(text), text
        assert "(" not in text, text
    assert any("소라는" in text for text in texts)
    assert any("박준은" in text or "박준이" in text for text in texts)


def test_what_a_plan_says_reads_as_a_sentence() -> None:
    town = Town(_scenario(), ScriptedMind()).live(10)
    plans = [memory.text for memory in town.memories("sora", "plan")]
    assert "한소라는 토요일 06:30부터 11:00까지 국숫집에서 국물을 내기로 한다." in plans


@pytest.mark.parametrize("doing", ["자기", "자는 중"])
def test_sleep_is_decided_on_in_one_form(doing: str) -> None:
    plan = sentence("ko", "hour", name="소라", start="22:00", end="23:00", doing=doing)
    assert plan == "소라는 22:00부터 23:00까지 자기로 한다."
