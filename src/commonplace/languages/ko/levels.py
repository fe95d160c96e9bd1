"""How two people speak to each other where a language has speech levels, and what they call each other.

Korean: 해요체 to strangers and elders, 해체 between friends of an age and siblings, to a mother, from parents to
children, and from the old to the young they know. Decided from what the scenario says of the two, by age and by the
words of their labels (`떡집 할머니`, `오랜 친구`), so it stays the same in a run.
"""

from __future__ import annotations

from functools import lru_cache

from commonplace.languages.ko.josa import resolved
from commonplace.languages.language import Living, Manner

POLITE, PLAIN = "polite", "plain"
PEERS = 5
"""Years within which friends count as of one age."""
SAME_AGE = 2
"""Years within which people who like each other well need no word for it."""
LIKE_SIBLINGS = 8
"""Years within which a 언니 or a 형 who is none by birth is spoken to as one."""
MUCH_OLDER = 18
"""Years from which somebody speaks plainly to a younger person they know."""
ADULT = 18
GRANDCHILD = 35
"""Years from which somebody old is called 할머니 or 할아버지."""
OLD = 65

LIKE = " 같은 "
FRIENDS = frozenset({"친구", "단짝", "동창", "동갑", "동갑내기", "짝꿍", "맞수", "애인", "연인"})
COUPLE = frozenset({"남편", "아내", "여자친구", "남자친구"})
SIBLINGS = frozenset({"언니", "오빠", "누나", "형", "동생", "여동생", "남동생", "쌍둥이", "사촌"})
YOUNGER = frozenset({
    "동생", "여동생", "남동생", "아들", "딸", "손자", "손녀", "손주", "조카", "제자", "후배", "막내",
    "며느리", "사위",
})  # fmt: skip
PARENTS = frozenset({"엄마", "아빠"})
ELDERS = frozenset({
    "할머니", "할아버지", "어머니", "아버지", "시어머니", "시아버지", "장모님", "장인어른", "이모", "고모",
    "삼촌", "외삼촌", "큰아버지", "큰어머니", "작은아버지", "작은어머니", "숙모", "형수님", "아저씨",
    "아주머니", "아줌마", "누님", "형님", "어른", "어르신", "스승", "선배", "선생님", "사장님", "회장",
    "회장님",
})  # fmt: skip
TITLES = {
    **{title: title for title in ELDERS | PARENTS | {"언니", "오빠", "누나", "형"}},
    "스승": "선생님", "시어머니": "어머니", "시아버지": "아버지", "어른": "어르신", "회장": "회장님", "선배": "선배님",
}  # fmt: skip
"""Last word of a label → what one calls somebody who is that."""
ENDS = ("님", "댁", "씨", *sorted(TITLES.values()))
"""Ends of a short name with which one calls somebody politely."""
WORK_TITLES = (
    (("약사", "의사", "교사", "교수", "선생", "강사", "화가", "작가"), "선생님"),
    (("회장",), "회장님"),
    (("기사", "운전"), "기사님"),
    (("주인", "사장", "대표", "장수", "상인", "요리사", "수리공"), "사장님"),
)  # fmt: skip


@lru_cache(maxsize=4096)
def manner(me: Living, you: Living, label: str, back: str, *, close: bool = False) -> Manner:
    """Returns how `me` speaks to `you`. `label`: what `you` is to `me`; `back`: what `me` is to `you`; `close`: whether
    both like each other well."""
    how = _level(me, you, label, back, close=close)
    return Manner(how, _address(me, you, label, how), _reference(me, you, label, how))


def _level(me: Living, you: Living, label: str, back: str, *, close: bool) -> str:
    older, mine, theirs = me.age - you.age, frozenset(label.split()), frozenset(back.split())
    if mine & (PARENTS | COUPLE) or (mine & YOUNGER and older >= 0) or (you.age < ADULT and older > 0):
        return PLAIN
    apart = abs(older)
    is_friend = (bool((mine | theirs) & FRIENDS) and apart <= PEERS) or (close and apart <= SAME_AGE)
    is_sibling = bool((mine | theirs) & SIBLINGS) and (apart <= LIKE_SIBLINGS or min(me.age, you.age) < ADULT)
    if is_friend or is_sibling:
        return PLAIN
    return PLAIN if label and not mine & ELDERS and older >= MUCH_OLDER else POLITE


def _address(me: Living, you: Living, label: str, how: str) -> str:
    title = _title(label)
    if title:
        return title
    if how == PLAIN:
        return vocative(you.name, you.called)
    if you.called.endswith(ENDS):
        return you.called
    return _by_age(me, you) or f"{given_name(you.name, you.called)} 씨"


def _reference(me: Living, you: Living, label: str, how: str) -> str:
    title, given = _title(label), given_name(you.name, you.called)
    if (title in PARENTS or title in {"어머니", "아버지"}) and LIKE not in label:
        return f"우리 {title}"
    if you.called.endswith(ENDS) and " " in you.called:
        return you.called
    if title:
        return f"{given} {title}"
    if how == PLAIN:
        return resolved(f"{given}(이)") if "가" <= given[-1] <= "힣" else given
    title = _by_age(me, you)
    return f"{given} {title}" if title else f"{given} 씨"


def _by_age(me: Living, you: Living) -> str:
    """Returns a title for somebody older who is nothing in particular to `me`; empty for somebody of about the same
    age."""
    if you.age - me.age <= PEERS:
        return ""
    if you.age >= OLD and you.age - me.age >= GRANDCHILD:
        return {"she": "할머니", "he": "할아버지"}.get(you.pronoun, "어르신")
    if me.age < ADULT:
        return {"she": "아주머니", "he": "아저씨"}.get(you.pronoun, "선생님")
    by_work = next((title for works, title in WORK_TITLES if any(one in you.work for one in works)), "")
    return by_work or ("어르신" if you.age >= OLD else "선생님" if you.age - me.age > MUCH_OLDER else "")


def _title(label: str) -> str:
    """Returns what one calls somebody by the last word of the label, or by the person they are like: `어머니 같은
    이웃`."""
    last, like = label.rpartition(" ")[2], label.partition(LIKE)
    return TITLES.get(last, "") or (TITLES.get(like[0].rpartition(" ")[2], "") if like[1] else "")


def vocative(name: str, called: str) -> str:
    """Returns a name as one calls a friend: `철수야`, `영숙아`."""
    return resolved(f"{given_name(name, called)}아(야)")


def given_name(name: str, called: str) -> str:
    """Returns the name without title and family name: `순자 할머니` → `순자`, `한소라` → `소라`."""
    first, _, title = called.partition(" ")
    first = first if title and title.endswith(ENDS) else called
    return first[1:] if first == name and len(name) == 3 and not name.isascii() else first
