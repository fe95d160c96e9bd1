"""What templates cannot hold, in each language: times, places, doings, lists and sentences about oneself.

Both tongues have the same methods, so that an answer is composed once and worded twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from commonplace.josa import ongoing, resolved, whole
from commonplace.memory.words import word_list
from commonplace.minds.notes import Who
from commonplace.minds.offline.grammar import conjugation, english, speech
from commonplace.minds.offline.grammar.conjugation import final, with_final
from commonplace.minds.offline.grammar.english import listed
from commonplace.text import HANGUL


class Tongue(Protocol):
    """How one language words what a memory holds, as the character itself says it."""

    def finished(self, text: str) -> str:
        """A whole answer: blanks, capitals, articles, particles."""
        ...

    def when(self, moment: str, minutes_ago: int) -> str:
        """`this morning`, `오늘 아침`."""
        ...

    def clock(self, time: str) -> str:
        """`HH:MM` as it is said."""
        ...

    def at_time(self, time: str) -> str:
        """`at half past seven`."""
        ...

    def part(self, days: int, start: int, moment: str) -> str:
        """A part of a day: `yesterday morning`, by days ago and minutes after midnight."""
        ...

    def span(self, days: int, start: int, end: int, moment: str) -> str:
        """The stretch a question names: `yesterday`, `tonight`."""
        ...

    def at(self, me: Who, name: str) -> str:
        """`at my noodle bar`."""
        ...

    def place(self, me: Who, name: str) -> str:
        """`my noodle bar`."""
        ...

    def doing(self, me: Who, doing: str, *, own: bool = True) -> str:
        """What somebody does, as the character says it; `own` is the character's own doing."""
        ...

    def forms(self, doing: str) -> dict[str, str]:
        """Slots for what somebody does, did, does often and will do, where the words of `doing` alone do not fit."""
        ...

    def speaks(self, text: str) -> bool:
        """Whether a text is in this language; an offline town has English lines in a Korean one."""
        ...

    def many(self, names: Sequence[str]) -> str:
        """`Jun, Kit and Mira`."""
        ...

    def own(self, me: Who, text: str) -> list[str]:
        """Sentences written about the character, in its own words."""
        ...

    def label(self, me: Who, label: str) -> str:
        """What somebody is to the character: `neighbour I owe`."""
        ...

    def is_mine(self, label: str) -> bool:
        """Whether one says `my` with it: `my neighbour`, but `a light in the window`."""
        ...

    def a(self, phrase: str) -> str:
        """With an article where the language has one."""
        ...

    def goal(self, me: Who, goal: str) -> str:
        """What follows `I want to`."""
        ...

    def past(self, text: str) -> str:
        """A report in the present, told afterwards; empty where that is not possible."""
        ...

    def times(self, count: int) -> str:
        """`twice`."""
        ...

    def topic(self, text: str) -> str:
        """What a question is about, as the answer names it."""
        ...

    def counts(self, text: str) -> bool:
        """Whether a text has a number in it."""
        ...


_THIRD_PERSON = listed(
    "is has does was goes keeps runs sells gives accepts lives knows sleeps speaks means grows sweeps owns believes "
    "records walks complains listens sends makes takes comes says tells thinks works plays writes reads teaches fixes "
    "mends builds paints draws sings dances cooks bakes brews serves cleans carries brings delivers drives "
    "rides sails fishes hunts hates loves likes wants needs hopes dreams fears worries wonders remembers forgets "
    "collects counts studies learns helps cares looks watches hears sees feels finds loses wins spends saves buys "
    "pays lends borrows owes starts stops opens closes leaves stays returns visits calls meets talks signs wears "
    "drinks eats smokes gets tries seems enjoys prefers refuses treats trains trades waits turns holds leads lets"
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+")


class English:
    """English."""

    def finished(self, text: str) -> str:
        return english.polished(text)

    def when(self, moment: str, minutes_ago: int) -> str:
        now = datetime.fromisoformat(moment)
        then = now - timedelta(minutes=max(0, minutes_ago))
        days = (now.date() - then.date()).days
        if 2 <= days < 7:
            return f"on {_EN_DAYS[then.weekday()]} {_en_part(then.hour)}"
        if days >= 7:
            return "last week" if days < 14 else f"{_EN_NUMBERS.get(days // 7, 'some')} weeks ago"
        return english.when(moment, minutes_ago)

    def clock(self, time: str) -> str:
        return english.clock(time)

    def at_time(self, time: str) -> str:
        said = english.clock(time)
        return said if said.startswith("just") else f"at {said}"

    def part(self, days: int, start: int, moment: str) -> str:
        days, hour = _days_said(days, moment), start // 60 % 24
        part = _en_part(hour)
        if days == 0:
            return (
                "tonight"
                if hour >= 21 and datetime.fromisoformat(moment).hour >= 21
                else f"this {part}"
                if part != "night"
                else "in the night"
            )
        if days == 1:
            return f"yesterday {part}" if part != "night" else "last night"
        if days == -1:
            return f"tomorrow {part}"
        day = datetime.fromisoformat(moment) - timedelta(days=days)
        return f"on {_EN_DAYS[day.weekday()]} {part}"

    def span(self, days: int, start: int, end: int, moment: str) -> str:
        if end - start >= 24 * 60:
            if _days_said(days, moment) in _EN_SPANS:
                return _EN_SPANS[_days_said(days, moment)]
            return f"on {_EN_DAYS[(datetime.fromisoformat(moment) - timedelta(days=days)).weekday()]}"
        if end - start <= 60:
            return f"around {english.clock(f'{(start + 30) // 60 % 24:02d}:{(start + 30) % 60:02d}')}"
        if _days_said(days, moment) == 0 and start >= 17 * 60:
            return "tonight"
        return self.part(days, start, moment)

    def at(self, me: Who, name: str) -> str:
        place = self.place(me, name)
        return f"{english.at(name).split(' ', 1)[0]} {place}" if place else ""

    def place(self, me: Who, name: str) -> str:
        place = english.named(name)
        own = f"{me.called}'s "
        return f"my {place[len(own) :]}" if place.startswith(own) else place

    def doing(self, me: Who, doing: str, *, own: bool = True) -> str:
        doing = english.lowered(doing.strip().rstrip("."))
        if own:
            # Nobody is doing anything to `me`: such a pronoun is somebody else's.
            doing = re.sub(r"\bme\b", _OBJECTS.get(me.pronoun, "them"), speech.taken(doing, me.pronoun, "my"))
        doing = speech_of_me(doing, me)
        first = doing.split(" ", 1)[0]
        return (
            doing if first.endswith("ing") or first in {"asleep", "awake", "at", "in", "on"} else f"busy with {doing}"
        )

    def forms(self, doing: str) -> dict[str, str]:
        del doing
        return {}

    def speaks(self, text: str) -> bool:
        return bool(text)

    def many(self, names: Sequence[str]) -> str:
        return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)

    def own(self, me: Who, text: str) -> list[str]:
        return [
            made
            for sentence in _SENTENCES.split(text.strip())
            if sentence
            for made in [_first_person(me, sentence)]
            if made
        ]

    def label(self, me: Who, label: str) -> str:
        return speech.taken(label, me.pronoun, "my")

    def is_mine(self, label: str) -> bool:
        if _ANOTHERS.search(label):
            return False
        first, head = label.split(" ", 1)[0], re.split(r" (?:who|of|with|on|in|from|to|by|and|at|that)\b", label)[0]
        return head.split()[-1].lower() in word_list("en").relation | _MINE or first.endswith("est")

    def a(self, phrase: str) -> str:
        first = phrase.split(" ", 1)[0].lower()
        return phrase if first in _DETERMINED or not phrase else f"a {phrase}"

    def goal(self, me: Who, goal: str) -> str:
        goal = goal.strip().rstrip(".")
        goal = goal[3:] if goal.lower().startswith("to ") else goal
        return speech_of_me(speech.taken(english.lowered(goal), me.pronoun, "my"), me)

    def past(self, text: str) -> str:
        text = text.strip().rstrip(".!")
        text = text.partition(",")[0] if len(text) > 90 else text
        skies = re.sub(
            r"\b(clears|covers?|begins|breaks|comes|stops|falls)\b", lambda found: _SKIES[found[0]], text, count=1
        )
        return english.lowered(english.past(text) or (skies if skies != text else ""))

    def times(self, count: int) -> str:
        return {1: "once", 2: "twice"}.get(count, f"{_EN_NUMBERS.get(count, 'many')} times")

    def topic(self, text: str) -> str:
        words = re.sub(r"^(?:about|of|that|any) ", "", english.lowered(text.strip()))
        return re.sub(r"\b(you|yourself|your|my)\b", lambda found: _MINE_AND_YOURS[found[0]], words)

    def counts(self, text: str) -> bool:
        return bool(_COUNTS.search(text))


_MINE_AND_YOURS = {"you": "me", "yourself": "myself", "your": "my", "my": "your"}
_COUNTS = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|"
    r"thousand|million|once|twice|every)\b",
    re.IGNORECASE,
)


def _days_said(days: int, moment: str) -> int:
    """After midnight the day before is still today."""
    return days - 1 if days == 1 and datetime.fromisoformat(moment).hour < 4 else days


_SKIES = {"clears": "cleared", "cover": "covered", "covers": "covered", "begins": "began", "breaks": "broke",
          "comes": "came", "stops": "stopped", "falls": "fell"}  # fmt: skip
_EN_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EN_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
_EN_SPANS = {0: "today", 1: "yesterday", -1: "tomorrow"}
_ANOTHERS = re.compile(r" of (?:an?|the|his|her|my|their)\b")
"""In a label that says to whom somebody belongs: `granddaughter of a customer`."""
_MINE = listed("neighbour regular customer patient opponent housemate")
_DETERMINED = listed("a an the my your his her their our") | {"best"}


def _en_part(hour: int) -> str:
    return (
        "night"
        if hour < 5
        else "morning"
        if hour < 12
        else "afternoon"
        if hour < 18
        else "evening"
        if hour < 22
        else "night"
    )


def speech_of_me(text: str, me: Who) -> str:
    """The character's own name in a text turned to `me` and `my`."""
    for name in (me.name, me.called):
        if name and name in text:
            text = re.sub(rf"\b{re.escape(name)}'s\b", "my", text)
            text = re.sub(rf"\b{re.escape(name)}\b", "me", text)
    return text


def _first_person(me: Who, sentence: str) -> str:
    """A sentence about the character in the first person; empty where it would not read well."""
    subject = speech.SUBJECT.get(me.pronoun, "they")
    names = "|".join(re.escape(one) for one in sorted({me.name, me.called}, key=len, reverse=True))
    text = re.sub(rf"^(?:(?:Dr|Mr|Mrs|Ms) )?(?:{names})'s\b", speech.POSSESSIVE.get(me.pronoun, "their"), sentence)
    text = re.sub(rf"^(?:(?:Dr|Mr|Mrs|Ms) )?(?:{names})\b", subject, text)
    if subject == "they":  # `Wren runs` is `they run`
        text = re.sub(rf"^they ({'|'.join(sorted(_THIRD_PERSON))})\b", lambda hit: f"they {_first_form(hit[1])}", text)
    text = re.sub(rf"\b(?:{names})\b(?='s)", "", text).replace(" 's ", " my ")
    text = re.sub(rf"(?<=[a-z,;] )(?:{names})(?= (?:{'|'.join(sorted(_THIRD_PERSON))}|\w+ed)\b)", subject, text)
    text = re.sub(rf"\b(?:{names})\b", "me", text)
    text = re.sub(r"^(She|He|They|Her|His|Their)\b", lambda found: found[0].lower(), text)
    turned = speech.taken(text, me.pronoun, "my")
    turned = _OWN_OBJECT.sub(lambda found: f"{found[1]}{_OBJECTS.get(me.pronoun, 'them')}", turned)
    if turned != text:
        turned = _COORDINATE.sub(lambda found: f"{found[1]}{found[2] or ''}{_first_form(found[3])}", turned)
    # `they mend … and sweep` needs nothing.
    return turned[:1].upper() + turned[1:]


_OBJECTS = {"she": "her", "he": "him"}
_OWN_OBJECT = re.compile(r"(\bI (?:[a-z]+ ){0,8}?(?:with|for|into|about|to|of) )me\b")
"""`I ought to talk with me`: one who speaks of oneself says `myself`, so this is somebody else."""
_COORDINATE = re.compile(
    rf"((?:,|\band|\bbut|\bor|\bthen) )((?:now|then|also|never|always|still) )?({'|'.join(sorted(_THIRD_PERSON))})\b"
)


def _first_form(verb: str) -> str:
    return speech._agreeing(verb, 0, many=False)  # pyright: ignore[reportPrivateUsage]


# ── Korean ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_KO_DAYS = ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일")
_KO_HOURS = ("열두", "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열", "열한")
_KO_SPANS = {0: "오늘", 1: "어제", 2: "그저께", -1: "내일"}
_KO_TIMES = {1: "한", 2: "두", 3: "세", 4: "네", 5: "다섯", 6: "여섯", 7: "일곱", 8: "여덟", 9: "아홉", 10: "열"}
_KO_TODAY = re.compile(r"(?<![가-힣])(방금|오늘|어제|그저께|내일)에(는)?(?= )")
"""Days that take no `에`."""
_KO_BOTH = re.compile(r"(.)(?:(이에요)/(예요)|(이지요)/(지요)|\((이)\)(?=라고))")
"""Endings with both forms, as `josa` has particles."""


class Korean:
    """Korean, polite."""

    def finished(self, text: str) -> str:
        text = _KO_TODAY.sub(lambda found: f"{found[1]}{'은(는)' if found[2] else ''}", " ".join(text.split()))
        text = _KO_BOTH.sub(_ko_ending, text)
        return resolved(text)

    def when(self, moment: str, minutes_ago: int) -> str:
        now = datetime.fromisoformat(moment)
        then = now - timedelta(minutes=max(0, minutes_ago))
        if minutes_ago <= 15:
            return "방금"
        days = (now.date() - then.date()).days
        if days == 0 and minutes_ago <= 75:
            return "조금 전"
        if days == 1 and then.hour >= 20:
            return "어젯밤"
        return self.part(days, then.hour * 60 + then.minute, moment)

    def clock(self, time: str) -> str:
        hour, minute = int(time[:2]) % 24, int(time[3:5])
        part = (
            "새벽"
            if hour < 6
            else "아침"
            if hour < 9
            else "오전"
            if hour < 12
            else "낮"
            if hour < 13
            else "오후"
            if hour < 18
            else "저녁"
            if hour < 21
            else "밤"
        )
        tail = "" if minute < 3 else " 반" if 28 <= minute <= 32 else f" {minute}분"
        return f"{part} {_KO_HOURS[hour % 12]} 시{tail}"

    def at_time(self, time: str) -> str:
        return f"{self.clock(time)}에"

    def part(self, days: int, start: int, moment: str) -> str:
        hour = start // 60 % 24
        part = (
            "새벽"
            if hour < 6
            else "아침"
            if hour < 10
            else "오전"
            if hour < 12
            else "낮"
            if hour < 14
            else "오후"
            if hour < 18
            else "저녁"
            if hour < 21
            else "밤"
        )
        if days == 1 and part == "밤":
            return "어젯밤"
        return f"{self._day(days, moment)} {part}"

    def _day(self, days: int, moment: str) -> str:
        if days in _KO_SPANS:
            return _KO_SPANS[days]
        return _KO_DAYS[(datetime.fromisoformat(moment) - timedelta(days=days)).weekday()] if days < 7 else "지난주"

    def span(self, days: int, start: int, end: int, moment: str) -> str:
        if end - start >= 24 * 60:
            return self._day(days, moment)
        if end - start <= 60:
            return f"{self._day(days, moment)} {self.clock(f'{(start + 30) // 60 % 24:02d}:{(start + 30) % 60:02d}')}쯤"
        return f"{self._day(days, moment)} 저녁" if start >= 17 * 60 else self.part(days, start, moment)

    def at(self, me: Who, name: str) -> str:
        return f"{self.place(me, name)}에서" if name else ""

    def place(self, me: Who, name: str) -> str:
        own = f"{me.called}의 "
        return f"제 {name[len(own) :]}" if name.startswith(own) else name

    def doing(self, me: Who, doing: str, *, own: bool = True) -> str:
        if not self.speaks(doing):
            return ""
        doing = ongoing(doing.strip().rstrip("."))
        doing = doing if doing.endswith("중") else f"{doing} 중"
        return re.sub(rf"{re.escape(me.called)}(?: 님)?[과와](?= )", "저와", doing) if not own else doing

    def forms(self, doing: str) -> dict[str, str]:
        """`국물을 내는 중` → `내고 있어요`, `내고 있었어요`, `내곤 해요`, `낼 거예요`."""
        body = doing.removesuffix(" 중")
        if not self.speaks(doing):
            return {}
        if not body.endswith("는") or final(body[-2]) < 0:
            return {
                "am": f"{doing}이에요",
                "was": f"{doing}이었어요",
                "often": f"{doing}일 때가 많아요",
                "will": f"{doing}일 거예요",
            }
        bare = body[:-1]
        stem = whole(bare)
        will = conjugation.future(stem)
        return {
            "am": f"{stem}고 있어요",
            "was": f"{stem}고 있었어요",
            "often": f"{stem}곤 해요",
            "will": f"{will} 거예요",
        }

    def speaks(self, text: str) -> bool:
        return bool(text) and 2 * len(re.findall("[가-힣]", text)) >= len(re.findall("[A-Za-z]", text))

    def many(self, names: Sequence[str]) -> str:
        return ", ".join(names)

    def own(self, me: Who, text: str) -> list[str]:
        return [_ko_first_person(me, sentence) for sentence in _SENTENCES.split(text.strip()) if sentence]

    def label(self, me: Who, label: str) -> str:
        return re.sub(rf"^{re.escape(me.called)}의 ", "제 ", label)

    def is_mine(self, label: str) -> bool:
        return bool(label)

    def a(self, phrase: str) -> str:
        return phrase

    def goal(self, me: Who, goal: str) -> str:
        """`새 국물을 만든다` → `새 국물을 만들`: the stem before `고 싶어요`."""
        del me
        return _ko_stem(goal.strip().rstrip("."))

    def past(self, text: str) -> str:
        return past_polite(text)

    def times(self, count: int) -> str:
        return f"{_KO_TIMES.get(count, '여러')} 번"

    def topic(self, text: str) -> str:
        return text.strip()

    def counts(self, text: str) -> bool:
        return bool(re.search(r"\d|[한두세네]\s|하나|둘|셋|다섯|여섯|일곱|여덟|아홉|열|백|천|만\s", text))


def _ko_ending(found: re.Match[str]) -> str:
    with_one, without = next(pair for pair in ((found[2], found[3]), (found[4], found[5]), (found[6], "")) if pair[0])
    return found[1] + (with_one if final(found[1]) > 0 else without)


def _ko_first_person(me: Who, sentence: str) -> str:
    names = "|".join(re.escape(one) for one in sorted({me.name, me.called}, key=len, reverse=True) if one)
    text = re.sub(rf"(?<![{HANGUL}])(?:{names})(?:이)?(?:은|는)(?![{HANGUL}])", "저는", sentence)
    text = re.sub(rf"(?<![{HANGUL}])(?:{names})(?:이|가)(?![{HANGUL}])", "제가", text)
    text = re.sub(rf"(?<![{HANGUL}])(?:{names})(?:이)?의(?![{HANGUL}])", "제", text)
    text = re.sub(rf"(?<![{HANGUL}])(?:{names})(?:이)?(?=에게|를|와|도|한테)", "저", text)
    return polite(text)


_N, _L, _B, _SS = 4, 8, 17, 20
"""Numbers of final consonants."""


def polite(sentence: str) -> str:  # noqa: PLR0911 - one case of the conjugation after another
    """A plain statement said politely: `골목에서 국숫집을 한다.` → `골목에서 국숫집을 해요.`

    Past, `있다`, `없다`, `하다` and the copula become 해요; the rest the formal form, which is regular.
    """
    text = sentence.strip()
    tail = text[len(text.rstrip(".!…")) :] or "."
    body = text.rstrip(".!…")
    if len(body) < 3 or not body.endswith("다") or final(body[-2]) < 0:
        return text
    stem, last = body[:-1], body[-2]
    if stem.endswith("한"):
        return f"{stem[:-1]}해요{tail}"
    if stem.endswith("는") and len(stem) > 1 and final(stem[-2]) > 0:
        return f"{stem[:-1]}습니다{tail}"
    if stem.endswith(("있", "없")) or final(last) == _SS:
        return f"{stem}어요{tail}"
    if stem.endswith("이") and final(stem[-2]) > 0:
        return f"{stem}에요{tail}"
    if final(last) in (0, _N, _L):
        return f"{stem[:-1]}{with_final(last, _B)}니다{tail}"
    return f"{stem}습니다{tail}"


def past_polite(sentence: str) -> str:
    """A plain statement in the present, told afterwards: `비가 그친다.` → `비가 그쳤어요.`; empty for another form."""
    body = sentence.strip().rstrip(".!…")
    if len(body) < 3 or not body.endswith("다") or final(body[-2]) < 0:
        return ""
    if final(body[-2]) == _SS:
        return polite(sentence)
    stem = _ko_stem(body)
    if stem.endswith("하"):
        return f"{stem[:-1]}했어요."
    if stem.endswith("이") and len(stem) > 1 and final(stem[-2]) > 0:
        return f"{stem}었어요."
    return f"{conjugation.past(stem)}어요."


def _ko_stem(sentence: str) -> str:
    """`만든다` → `만드`, `먹는다` → `먹`, `하기` → `하`."""
    for end in ("고 싶다", "싶다"):
        sentence = sentence.removesuffix(end)
    if sentence.endswith(("기", "다")) and len(sentence) > 1:
        stem = sentence[:-1]
        if stem.endswith("는") and len(stem) > 1 and final(stem[-2]) > 0:
            return stem[:-1]
        if final(stem[-1]) == _N and sentence.endswith("다"):
            return whole(stem[:-1] + with_final(stem[-1], 0))
        return stem
    return sentence


def tongue(language: str) -> Tongue:
    """The tongue of a language; English for a language without one."""
    return Korean() if language == "ko" else English()
