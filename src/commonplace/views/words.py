"""What views say themselves, in English and Korean; everything else on a screen is data.

Korean phrases are made so that no particle depends on the last sound of a name.
"""

from __future__ import annotations

from typing import Literal

Key = Literal[
    "talk", "people", "inspector", "log", "why", "nobody", "silence", "on the way", "asleep", "who", "plan", "memory",
    "past", "belief", "ties", "all", "moves", "plans", "world", "LIVE", "PAUSED", "REPLAY", "PAST", "END", "tick",
    "offline mind", "no plan", "goals", "wants", "home", "now", "jobs", "nothing yet", "seen", "talks", "retrieved",
    "reaction", "asked", "stored", "not stored", "heard from", "evidence", "no memories", "until", "open", "done",
    "given_up", "overtaken", "no reason", "k play", "k pause", "k time", "k hour", "k live", "k panel", "k why",
    "k god", "k ask", "k help", "k quit", "k who", "recency", "importance", "relevance", "unknown",
]  # fmt: skip

WORDS: dict[str, dict[Key, str]] = {
    "en": {
        "talk": "Talk", "people": "People", "inspector": "Character", "log": "Log", "why": "Why",
        "nobody": "nobody is here", "silence": "Nobody has spoken yet.", "on the way": "on the way", "asleep": "asleep",
        "who": "Who", "plan": "Plan", "memory": "Memory", "past": "Past", "belief": "Belief", "ties": "Ties",
        "all": "all", "moves": "moves", "plans": "plans", "world": "world", "LIVE": "LIVE", "PAUSED": "PAUSED",
        "REPLAY": "REPLAY", "PAST": "PAST", "END": "END", "tick": "tick", "offline mind": "offline mind",
        "no plan": "No plan yet.", "goals": "Goals", "wants": "Wants", "home": "Home", "now": "Now",
        "jobs": "Thinking about", "nothing yet": "Nothing yet.", "seen": "seen", "talks": "talks",
        "retrieved": "Remembered", "reaction": "Decision", "asked": "Asked", "stored": "Kept", "not stored": "Not kept",
        "heard from": "Heard from", "evidence": "rests on", "no memories": "No memories yet.", "until": "until",
        "open": "open", "done": "done", "given_up": "given up", "overtaken": "no longer needed",
        "no reason": "Nothing was recorded about the reasons of this.", "k play": "play", "k pause": "pause",
        "k time": "time", "k hour": "hour", "k live": "live", "k panel": "panel", "k why": "why", "k god": "god mode",
        "k ask": "ask", "k help": "help", "k quit": "quit", "k who": "next", "recency": "recency",
        "importance": "importance", "relevance": "relevance", "unknown": "unknown",
    },
    "ko": {
        "talk": "대화", "people": "사람들", "inspector": "인물", "log": "기록", "why": "이유", "nobody": "아무도 없음",
        "silence": "아직 아무도 말하지 않았습니다.", "on the way": "길 위", "asleep": "자는 중", "who": "소개",
        "plan": "계획", "memory": "기억", "past": "지난 일", "belief": "믿음", "ties": "관계", "all": "전체",
        "moves": "이동", "plans": "계획", "world": "세계", "LIVE": "진행 중", "PAUSED": "멈춤", "REPLAY": "다시 보기",
        "PAST": "지난 시간", "END": "끝", "tick": "틱", "offline mind": "오프라인 마음",
        "no plan": "아직 계획이 없습니다.", "goals": "목표", "wants": "바람", "home": "집", "now": "지금",
        "jobs": "생각하는 중", "nothing yet": "아직 없습니다.", "seen": "본 때", "talks": "대화",
        "retrieved": "떠올린 기억", "reaction": "판단", "asked": "질문", "stored": "기억함",
        "not stored": "기억하지 않음", "heard from": "들은 곳", "evidence": "근거",
        "no memories": "아직 기억이 없습니다.", "until": "기한", "open": "진행 중", "done": "마침",
        "given_up": "그만둠", "overtaken": "필요 없어짐", "no reason": "이 일의 이유는 기록되어 있지 않습니다.",
        "k play": "재생", "k pause": "멈춤", "k time": "시간", "k hour": "한 시간", "k live": "현재로", "k panel": "창",
        "k why": "이유", "k god": "개입", "k ask": "묻기", "k help": "도움말", "k quit": "끝내기", "k who": "다음 인물",
        "recency": "최근성", "importance": "중요도", "relevance": "관련성", "unknown": "모름",
    },
}  # fmt: skip

PAST: dict[str, dict[str, str]] = {
    "en": {
        "attended": "was there", "did": "did this", "promised": "promised {other}", "kept": "kept a promise to {other}",
        "broke": "broke a promise to {other}", "told": "told {other}", "heard": "heard from {other}",
        "asked": "asked {other}", "was_asked": "was asked by {other}", "answered": "was answered by {other}",
        "agreed": "got a yes from {other}", "refused": "got a no from {other}", "declined": "said no to {other}",
        "hurt": "was hurt by {other}", "pleased": "was pleased by {other}",
    },
    "ko": {
        "attended": "그 자리에 있었음", "did": "한 일", "promised": "{other}에게 약속함",
        "kept": "{other}에게 한 약속을 지킴", "broke": "{other}에게 한 약속을 어김", "told": "{other}에게 말함",
        "heard": "{other}에게서 들음", "asked": "{other}에게 물음", "was_asked": "{other}에게서 질문을 받음",
        "answered": "{other}에게서 대답을 들음", "agreed": "{other}에게서 승낙을 받음",
        "refused": "{other}에게서 거절당함", "declined": "{other}의 청을 거절함", "hurt": "{other} 때문에 마음이 상함",
        "pleased": "{other} 덕분에 기분이 좋음",
    },
}  # fmt: skip
"""Kinds of rows of what a character knows of its own past."""

AMBIENT: dict[str, dict[str, str]] = {
    "en": {},
    "ko": {
        "clear": "맑음", "cloudy": "흐림", "rain": "비", "storm": "폭풍", "fog": "안개", "snow": "눈",
        "calm": "바람 없음", "breezy": "산들바람", "windy": "강풍",
        "cold": "추움", "cool": "서늘함", "mild": "온화함", "warm": "따뜻함", "hot": "더움",
        "dawn": "새벽", "morning": "아침", "midday": "한낮", "afternoon": "오후", "evening": "저녁", "night": "밤",
    },
}  # fmt: skip
"""Skies, winds, temperatures and parts of the day; English needs no table."""

EVENT_TEMPLATES: dict[str, dict[str, str]] = {
    "en": {
        "MOVE": "goes to {to}", "MOVE goal": "goes to {to}, on the way to {goal}",
        "USE": "uses the {object}", "OPEN": "opens the {object}", "CLOSE": "closes the {object}",
        "TAKE": "takes the {object}", "DROP": "puts down the {object}",
        "refused": "tries in vain: {object} ({why})",
        "ACTION_REJECTED": "cannot do that: {why}", "OBJECT_STATE_CHANGED": "{object}: {from} → {to}",
        "CONVERSATION_STARTED": "{members} begin to talk", "CONVERSATION_ENDED": "{members} stop talking",
        "PLAN_CHANGED": "changes plans: {reason}", "PLAN_CHANGED first": "has a plan for the day",
        "REFLECTED": "thinks it over",
        "RELATION_CHANGED kept_word": "thinks better of {other}, who kept a promise",
        "RELATION_CHANGED broke_word": "thinks less of {other}, who broke a promise",
        "RELATION_CHANGED spoke_well": "is pleased by what {other} said",
        "RELATION_CHANGED spoke_ill": "is hurt by what {other} said",
        "RELATION_CHANGED told_secret": "is hurt: {other} gave away a secret",
        "RELATION_CHANGED apologised": "forgives {other}",
        "RELATION_CHANGED stayed_away": "hears nothing from {other} and feels less close",
        "RELATION_CHANGED reproached": "is hurt by {other}'s reproach",
        "RELATION_CHANGED defied": "is hurt by how {other} took a reproach",
        "RELATION_CHANGED made_up": "makes up with {other}",
        "RELATION_CHANGED forgave": "is glad to be forgiven by {other}",
        "TIME_ADVANCED": "{part_of_day} begins", "WEATHER_CHANGED": "{from} → {to}",
        "JOINED": "joins the town", "LEFT": "leaves the town", "FORGOT": "forgets something",
        "TAKEN_OVER": "is played by a person", "GIVEN_BACK": "decides alone again",
        "VOICE_ANSWERED": "follows the inner voice: {reason}",
        "VOICE_ANSWERED no": "does not follow the inner voice: {reason}",
        "CHANGED": "is changed: {field} → {value}", "CHANGED run": "{field} → {value}",
    },
    "ko": {
        "MOVE": "→ {to}", "MOVE goal": "→ {to} ({goal} 가는 길)",
        "USE": "{object} 사용", "OPEN": "{object} 열기", "CLOSE": "{object} 닫기", "TAKE": "{object} 집어 듦",
        "DROP": "{object} 내려놓음", "refused": "{object}: 되지 않음 ({why})",
        "ACTION_REJECTED": "할 수 없음: {why}", "OBJECT_STATE_CHANGED": "{object}: {from} → {to}",
        "CONVERSATION_STARTED": "{members}: 대화 시작", "CONVERSATION_ENDED": "{members}: 대화 끝",
        "PLAN_CHANGED": "계획 변경: {reason}", "PLAN_CHANGED first": "하루 계획을 세움",
        "REFLECTED": "되돌아봄",
        "RELATION_CHANGED kept_word": "약속을 지킨 사람이 더 좋아짐: {other}",
        "RELATION_CHANGED broke_word": "약속을 어긴 사람에게 서운함: {other}",
        "RELATION_CHANGED spoke_well": "들은 말에 기분이 좋아짐: {other}",
        "RELATION_CHANGED spoke_ill": "들은 말에 마음이 상함: {other}",
        "RELATION_CHANGED told_secret": "비밀이 새어 나가 마음이 상함: {other}",
        "RELATION_CHANGED apologised": "사과를 받아들임: {other}",
        "RELATION_CHANGED stayed_away": "소식이 없어 조금 멀어짐: {other}",
        "RELATION_CHANGED reproached": "원망을 듣고 마음이 상함: {other}",
        "RELATION_CHANGED defied": "서운하다는 말을 받아 주지 않아 마음이 상함: {other}",
        "RELATION_CHANGED made_up": "화해함: {other}",
        "RELATION_CHANGED forgave": "용서를 받아 마음이 놓임: {other}",
        "TIME_ADVANCED": "{part_of_day} 시작", "WEATHER_CHANGED": "{from} → {to}",
        "JOINED": "마을에 들어옴", "LEFT": "마을을 떠남", "FORGOT": "무언가를 잊음",
        "TAKEN_OVER": "사람이 대신 결정함", "GIVEN_BACK": "다시 스스로 결정함",
        "VOICE_ANSWERED": "내면의 목소리를 따름: {reason}",
        "VOICE_ANSWERED no": "내면의 목소리를 따르지 않음: {reason}",
        "CHANGED": "바뀜: {field} → {value}", "CHANGED run": "{field} → {value}",
    },
}  # fmt: skip


def word(language: str, key: Key) -> str:
    """The word in `en` or `ko`; English for any other language."""
    return WORDS.get(language, WORDS["en"])[key]


def ambient(language: str, name: str) -> str:
    """A sky, wind, temperature or part of day as read by people."""
    return AMBIENT.get(language, {}).get(name, name)


def past_template(language: str, kind: str) -> str:
    """What a row of a character's past says, with the other one's name to fill in; the kind itself if it is unknown."""
    return PAST.get(language, PAST["en"]).get(kind, kind)


def event_template(language: str, key: str) -> str:
    """The sentence for an event, with fields to fill in; empty for an unknown event."""
    return EVENT_TEMPLATES.get(language, EVENT_TEMPLATES["en"]).get(key, "")
