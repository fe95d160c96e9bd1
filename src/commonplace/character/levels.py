"""How two people speak to each other where a language has speech levels, and what they call each other.

Korean: 해요체 to strangers and elders, 해체 between friends of an age and siblings, from parents to children, and from the
old to the young they know. Decided from what the scenario says of the two, so it stays the same in a run.
"""

from __future__ import annotations

from commonplace.character.persona import Persona
from commonplace.josa import resolved

POLITE, PLAIN = "polite", "plain"
PEERS = 3
"""Years within which two friends count as of one age."""
MUCH_OLDER = 18
"""Years from which somebody speaks plainly to a younger person they know."""
GROWN_UP = 18

FRIENDS = ("친구", "단짝", "동창", "동갑", "짝꿍", "남편", "아내", "여자친구", "남자친구", "애인", "연인")
SIBLINGS = ("언니", "오빠", "누나", "형", "동생", "여동생", "남동생", "쌍둥이", "사촌")
YOUNGER = (
    "동생",
    "여동생",
    "남동생",
    "아들",
    "딸",
    "손자",
    "손녀",
    "손주",
    "조카",
    "제자",
    "후배",
    "막내",
    "며느리",
    "사위",
)
ELDERS = (
    "할머니", "할아버지", "어머니", "아버지", "엄마", "아빠", "시어머니", "시아버지", "장모님", "장인어른", "이모", "고모", "삼촌",
    "외삼촌", "큰아버지", "큰어머니", "작은아버지", "작은어머니", "숙모", "형수님", "스승", "선배", "선생님", "사장님",
)  # fmt: skip
OLDER_SIBLINGS = ("언니", "오빠", "누나", "형")
CALLED_OTHERWISE = {"스승": "선생님", "시어머니": "어머니", "시아버지": "아버지"}
TITLES = (
    "님", "할머니", "할아버지", "아주머니", "아저씨", "아줌마", "이모", "삼촌", "고모", "댁", "어르신", "씨", "엄마", "아빠",
    "어머니", "아버지", "언니", "오빠", "누나", "형",
)  # fmt: skip
"""Words at the end of a short name with which one calls somebody politely."""
WORK_TITLES = (
    (("약사", "의사", "교사", "교수", "선생", "강사", "화가", "작가"), "선생님"),
    (("기사", "운전"), "기사님"),
    (("주인", "사장", "대표", "장수", "상인"), "사장님"),
)


def level(me: Persona, you: Persona, label: str, back: str) -> str:
    """`polite` or `plain`, as one speaks to the other. `label`: what the other is to me, `back`: what I am to them."""
    older = me.age - you.age
    if _is(label, ELDERS):
        return POLITE
    if _is(label, YOUNGER) and older >= 0:
        return PLAIN
    if _is(label, SIBLINGS) or _is(back, SIBLINGS):
        return PLAIN
    if (_is(label, FRIENDS) or _is(back, FRIENDS)) and abs(older) <= PEERS:
        return PLAIN
    if (_is(label, ("남편", "아내"))) or (you.age < GROWN_UP and older >= PEERS):
        return PLAIN
    return PLAIN if label and older >= MUCH_OLDER else POLITE


def address(me: Persona, you: Persona, label: str, how: str) -> str:
    """What one calls the other to their face: `철수야`, `순자 할머니`, `민수 씨`, `사장님`."""
    called = next((one for one in (*ELDERS, *OLDER_SIBLINGS) if label == one), "")
    if called:
        return CALLED_OTHERWISE.get(called, called)
    if how == PLAIN:
        return vocative(you.name, you.called)
    if you.called.endswith(TITLES):
        return you.called
    if you.age > me.age + PEERS:
        title = next((title for works, title in WORK_TITLES if any(one in you.work for one in works)), "")
        if title or you.age > me.age + MUCH_OLDER:
            return title or "어르신"
    return f"{given_name(you.name, you.called)} 씨"


def vocative(name: str, called: str) -> str:
    """A name as one calls a friend: `철수야`, `영숙아`; a title in the short name is left out."""
    plain = given_name(name, called)
    return resolved(f"{plain}아(야)") if not plain.endswith(TITLES) else plain


def given_name(name: str, called: str) -> str:
    """The name without title and family name: `순자 할머니` → `순자`, `한소라` → `소라`."""
    first, _, title = called.partition(" ")
    first = first if title and title.endswith(TITLES) else called
    return first[1:] if first == name and len(name) == 3 and not name.isascii() else first


def _is(label: str, kinds: tuple[str, ...]) -> bool:
    return any(word in kinds for word in label.replace(",", " ").split())
