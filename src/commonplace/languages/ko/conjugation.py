"""Korean verb forms by rule: 해 forms, past, future, and a polite sentence said to a friend or the other way round.

`먹` → `먹어`, `먹었`, `먹을`; `그만 갈게요.` → `그만 갈게.` Irregular stems are lists; all else follows the sounds.

The speech level: 해요체 to strangers and elders; 해체 between friends of an age and siblings, to a mother, from parents
to children, and from the old to the young they know. It is decided from what the scenario says of the two, by age and
by the words of their labels (`떡집 할머니`, `오랜 친구`), so it stays the same in a run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from commonplace.languages.ko.josa import resolved, whole
from commonplace.languages.language import Living, Manner

_BASE, _FINALS, _VOWELS = 0xAC00, 28, 21
_N, _D, _L, _B, _S, _H, _SS = 4, 7, 8, 17, 19, 27, 20
_A, _AE, _YA, _EO, _E, _YEO, _O, _WA, _OE, _WAE, _U, _WO, _EU, _UI, _I = (
    0,
    1,
    2,
    4,
    5,
    6,
    8,
    9,
    11,
    10,
    13,
    14,
    18,
    19,
    20,
)
_BRIGHT = (_A, _YA, _O)
_MERGED = {_O: _WA, _U: _WO, _I: _YEO, _OE: _WAE}
_SAME = (_A, _AE, _EO, _E, _YEO)
_D_IRREGULAR = ("듣", "걷", "싣", "깨닫", "일컫", "묻")
_S_IRREGULAR = ("짓", "잇", "붓", "긋", "젓", "낫")
_B_REGULAR = ("잡", "입", "뽑", "씹", "접", "좁", "꼽", "업", "집", "씹", "꼬집", "헤집", "붙잡", "갈아입", "뒤집")
_B_BRIGHT = ("돕", "곱")
_H_REGULAR = (
    "좋",
    "넣",
    "놓",
    "쌓",
    "낳",
    "닿",
    "땋",
    "찧",
    "않",
    "많",
    "끊",
    "잃",
    "싫",
    "앓",
    "끓",
    "뚫",
    "꿇",
    "옳",
)


def final(letter: str) -> int:
    """Returns the number of a syllable's final consonant; 0 for none, −1 if it is not a syllable."""
    return (ord(letter) - _BASE) % _FINALS if "가" <= letter <= "힣" else -1


def with_final(letter: str, number: int) -> str:
    """Returns the syllable with another final consonant."""
    return chr(ord(letter) - final(letter) + number)


def _vowel(letter: str) -> int:
    return (ord(letter) - _BASE) // _FINALS % _VOWELS


def _with_vowel(letter: str, vowel: int) -> str:
    onset = (ord(letter) - _BASE) // (_FINALS * _VOWELS)
    return chr(_BASE + (onset * _VOWELS + vowel) * _FINALS)


def _opened(stem: str) -> str:
    """Returns a stem as it is before a vowel: `듣` → `들`, `굽` → `구우`, `짓` → `지`; a regular stem does not
    change."""
    last, word = stem[-1], stem.rsplit(" ", 1)[-1]
    if final(last) == _D and word.endswith(_D_IRREGULAR):
        return stem[:-1] + with_final(last, _L)
    if final(last) == _S and word.endswith(_S_IRREGULAR):
        return stem[:-1] + with_final(last, 0)
    if final(last) == _B and not word.endswith(_B_REGULAR):
        return stem[:-1] + with_final(last, 0) + "우"
    return stem


@lru_cache(maxsize=4096)
def informal(stem: str) -> str:  # noqa: PLR0911 – one kind of stem after another
    """Returns the 해 form: `가` → `가`, `먹` → `먹어`, `돕` → `도와`, `부르` → `불러`, `국물을 내` → `국물을 내`."""
    last, body = stem[-1], stem[:-1]
    if last == "하":
        return f"{body}해"
    if final(last) > 0:
        return _closed(stem)
    vowel = _vowel(last)
    if last == "르" and body and final(body[-1]) == 0 and not stem.endswith(("따르", "치르", "들르", "푸르", "이르")):
        return body[:-1] + with_final(body[-1], _L) + ("라" if _vowel(body[-1]) in _BRIGHT else "러")
    if vowel == _EU:
        before = body[-1] if body and final(body[-1]) >= 0 else ""
        return body + _with_vowel(last, _A if before and _vowel(before) in _BRIGHT else _EO)
    if last == "푸":
        return f"{body}퍼"
    if vowel in _SAME:
        return stem
    if vowel in _MERGED:
        return body + _with_vowel(last, _MERGED[vowel])
    return f"{stem}어"


def _closed(stem: str) -> str:
    """Returns the 해 form of a stem with a final consonant."""
    last, opened = stem[-1], _opened(stem)
    if opened.endswith("우") and opened != stem:
        return f"{opened[:-1]}{'와' if stem.rsplit(' ', 1)[-1].endswith(_B_BRIGHT) else '워'}"
    if final(last) == _H and not stem.endswith(_H_REGULAR):
        return stem[:-1] + _with_vowel(last, _AE)
    return f"{opened}{'아' if _vowel(last) in (_A, _O, _YA) else '어'}"


def past(stem: str) -> str:
    """Returns the stem of the past: `내` → `냈`, `듣` → `들었`."""
    form = informal(stem)
    return form[:-1] + with_final(form[-1], _SS)


def future(stem: str) -> str:
    """Returns the form before `거예요`: `내` → `낼`, `먹` → `먹을`, `굽` → `구울`."""
    opened = _opened(stem)
    if (final(opened[-1]) == 0 and final(stem[-1]) != _S) or (opened == stem and final(stem[-1]) == _L):
        return opened[:-1] + with_final(opened[-1], _L)
    return f"{opened}을"


def ongoing(stem: str) -> str:
    """Returns the form before a noun: `내는`, `만드는`."""
    return f"{stem[:-1]}{with_final(stem[-1], 0) if final(stem[-1]) == _L else stem[-1]}는"


def plain(stem: str) -> str:
    """Returns the plain sentence: `내` → `낸다`, `만들` → `만든다`, `먹` → `먹는다`."""
    return f"{stem}는다" if final(stem[-1]) not in (0, _L) else f"{stem[:-1]}{with_final(stem[-1], _N)}다"


def stem_of(sentence: str) -> str:
    """Returns the stem of a plain sentence, the past with its ㅆ: `물이 끓는다` → `물이 끓`, `비었다` → `비었`; or
    empty."""
    body = sentence.strip().rstrip(".!…")
    if len(body) < 2 or not body.endswith("다") or final(body[-2]) < 0:
        return ""
    stem = body[:-1]
    if stem.endswith("는") and len(stem) > 1 and final(stem[-2]) > 0:
        return stem[:-1]
    if final(stem[-1]) == _N:
        return whole(stem[:-1] + with_final(stem[-1], 0))
    return stem


def informal_sentence(sentence: str) -> str:
    """Returns a plain sentence in the 해 form, to which 요 may be added: `차갑다.` → `차가워`; empty for any other
    form."""
    stem = stem_of(sentence)
    if not stem:
        return ""
    return f"{stem}어" if final(stem[-1]) == _SS else informal(stem)


# ── 해요 → 해 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_PRONOUN = re.compile(
    r"(?<![가-힣])(?:(?P<self>저)(?P<josa>는|도|를|한테|에게|랑|만|야|보다|처럼|밖에|까지|하고|라도|예요|희)"
    r"|(?P<short>전|절)(?= )"
    r"|(?P<subject>제가)|(?P<own>제)(?= (?!시간|때|자리|철|맛|값|정신|멋대로|발로))|(?P<to>제게))(?![가-힣])"
)
_WORDS = (
    (re.compile(r"(^|[.!?…] )(?:네|예)(?=[,.!?…])"), r"\1응"),
    (re.compile(r"(?<![가-힣])저(?= (?:가요|먼저|뛰|또 왔|바빠|할 일|거의|혼자))"), "나"),
    (re.compile(r"(?<![가-힣])아니요(?=[,.!…])"), "아니"),
    (re.compile(r"안녕하세요"), "안녕"),
    (re.compile(r"안녕히 (?:가세요|계세요)"), "잘 가"),
    (re.compile(r"안녕히 주무세요"), "잘 자"),
    (re.compile(r"저희"), "우리"),
    (re.compile(r"말씀드릴"), "말할"),
    (re.compile(r"드릴(?=게|까| 말| 게)"), "줄"),
    (re.compile(r"드려(?=요|야|서)"), "줘"),
    (re.compile(r"(?<=[가-힣])께서(?:는)?"), "는"),
)  # fmt: skip
_NOUNS = ("필요", "중요", "주요", "고요", "담요", "수요", "동요", "민요", "소요", "강요")
_END = re.compile(r"(?P<body>[가-힣}]*[가-힣}])(?P<yo>요|죠)(?=[.!?…,~”\"]|$)")
_HONORIFIC = {
    "하": "해", "드": "먹어", "계": "있어", "주무": "자", "마": "마", "편찮으": "아파", "말씀하": "말해",
    "잡수": "먹어",
}  # fmt: skip
_HONORIFIC_PAST = {"하": "했", "드": "먹었", "계": "있었", "주무": "잤", "말씀하": "말했", "잡수": "먹었"}


@lru_cache(maxsize=8192)
def to_a_friend(text: str, *, of_others: bool = False) -> str:
    """Returns polite sentences as one says them to a friend: `저는 어제 봤어요.` → `나는 어제 봤어.`

    `of_others`: honorific statements are about somebody else and stay honorific, `할머니는 안 가세요.` → `할머니는 안
    가셔.`
    """
    for pattern, instead in _WORDS:
        text = pattern.sub(instead, text)
    if of_others:
        text = re.sub(r"(?<=[가-힣])세요(?=\.)", "셔", text)
        text = re.sub(r"(?<=[가-힣])셨어요(?=\.)", "셨어", text)
    return _END.sub(_ended, _PRONOUN.sub(_pronoun, text))


_POLITE_END = re.compile(r"(?:요|죠|니다|니까)(?=[,.!?…]|$)")
_PLAIN_END = re.compile(r"(?P<body>[가-힣]+)(?P<mark>[.!?…]|$)")
_RAISED = (
    ("거야", "거예요"), ("아니야", "아니에요"), ("이야", "이에요"), ("더라", "더라고요"), ("구나", "군요"),
    ("보자", "봐요"), ("하자", "해요"), ("가자", "가요"), ("뭐야", "뭐예요"),
)  # fmt: skip
_SELF = (
    ("나는", "저는"),
    ("난", "전"),
    ("나도", "저도"),
    ("나를", "저를"),
    ("나한테", "저한테"),
    ("내가", "제가"),
    ("내", "제"),
)


@lru_cache(maxsize=8192)
def to_an_elder(text: str) -> str:
    """Returns plain sentences as one says them politely: `나는 어제 봤어.` → `저는 어제 봤어요.` Polite ones do not
    change."""
    if _POLITE_END.search(text):
        return text
    for plain, polite in _SELF:
        text = re.sub(rf"(?<![가-힣]){plain}(?= )", polite, text)
    return _PLAIN_END.sub(_raised, text)


def _raised(found: re.Match[str]) -> str:
    body, mark = found["body"], found["mark"]
    if not mark or body.endswith(("요", "다", "죠", "까")):
        return found.group()
    for plain, polite in _RAISED:
        if body.endswith(plain):
            return body.removesuffix(plain) + polite + mark
    if body.endswith("야") and len(body) > 1 and final(body[-2]) == 0:
        return f"{body[:-1]}예요{mark}"
    return f"{body}요{mark}"


def _pronoun(found: re.Match[str]) -> str:
    if found["self"]:
        return {"희": "우리", "예요": "나야"}.get(found["josa"], f"나{found['josa']}")
    if found["short"]:
        return {"전": "난", "절": "날"}[found["short"]]
    return "내가" if found["subject"] else "내게" if found["to"] else "내"


_SE_NOUNS = ("월세", "전세", "자세", "만세", "신세", "출세", "허세", "텃세", "집세", "유세", "기세", "대세", "추세")
_ADVERBS = (
    "같이", "많이", "높이", "깊이", "없이", "굳이", "일찍이", "오래", "사이", "나이", "아이", "고양이", "어린이",
    "놀이",
)  # fmt: skip
_SUFFIXES = (("아니에", "아니야"), ("이에", "이야"), ("예", "야"), ("군", "구나"))


def _ended(found: re.Match[str]) -> str:  # noqa: PLR0911 – one ending after another
    body = found["body"]
    if found["yo"] == "죠":
        return f"{body.removesuffix('으시').removesuffix('시')}지"
    if f"{body}요" in _NOUNS:
        return found.group()
    for end, instead in _SUFFIXES:
        if body.endswith(end):
            return body.removesuffix(end) + instead
    if body.endswith(_SE_NOUNS):
        return body
    if body.endswith("이") and len(body) > 1 and final(body[-2]) > 0 and not body.endswith(_ADVERBS):
        return body[:-1]
    if body.endswith("세") and len(body) > 1:
        return _lowered(body[:-1], _HONORIFIC, informal)
    if body.endswith("셨어"):
        return f"{_lowered(body[:-2], _HONORIFIC_PAST, past)}어"
    for end in ("시네", "시겠어", "시지"):
        if body.endswith(end):
            return body.removesuffix(end).removesuffix("으") + end[1:]
    return body


def _lowered(stem: str, table: dict[str, str], form: Callable[[str], str]) -> str:
    """Returns the form of a stem without its honorific."""
    known = next((one for one in sorted(table, key=len, reverse=True) if stem.endswith(one)), "")
    if known:
        return stem.removesuffix(known) + table[known]
    stem = stem.removesuffix("으") if len(stem) > 1 and final(stem[-2]) > 0 else stem
    return form(whole(stem))


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
