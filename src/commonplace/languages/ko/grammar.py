"""Korean as the offline mind speaks it: words, people, topics, doings and states in a sentence.

Templates are written once, in 해요체; `levelled` makes what one says to a friend. `걸음이 빠르세요. | 걸음이 빠르네.`
gives both where a rule would not do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache

from commonplace.languages import listed, weekdays
from commonplace.languages.ko import conjugation
from commonplace.languages.ko.conjugation import (
    ENDS,
    PLAIN,
    POLITE,
    final,
    given_name,
    informal_sentence,
    manner,
    stem_of,
    to_a_friend,
    to_an_elder,
    vocative,
    with_final,
)
from commonplace.languages.ko.josa import ongoing, planned, resolved, whole
from commonplace.languages.ko.morphology import is_grammar, root, stem, without_particle
from commonplace.languages.language import Called, Hearer, Language, Living, Manner, Slots, Speaker, part_at
from commonplace.text import HANGUL, words

EITHER = " | "
"""Between the polite and the plain form of a template."""
_HANGUL = re.compile("[가-힣]")
_COMMON = listed(
    "오늘 어제 내일 아침 점심 저녁 새벽 요즘 지금 아까 정말 진짜 그냥 사람 사람들 이야기 얘기 생각 말씀 마음 "
    "우리 저희 자기 다들 모두 아무 누구 무슨 무엇 어디 언제 어떻게 그렇게 이렇게 그래서 그런데 그리고 하지만 "
    "그래도 조금 많이 아주 너무 다시 먼저 벌써 이제 아직 계속 항상 자주 가끔 한번 하나 둘이 여기 거기 저기 "
    "이거 그거 저거 이것 그것 때문 동안 다음 지난 작은 좋은 있었 없었 했었 그러 이러 어떠 모르 나오 들어오 "
    "가지 보이 시간 하루 며칠"
)
"""Words that two lines may share without having to do with each other."""
_TIMES = listed(
    "오늘 어제 내일 모레 아침 점심 저녁 새벽 밤 낮 오전 오후 요즘 지금 아까 이번 지난 다음 매일 매주 해마다 "
    "날마다 어젯밤 오늘밤 한 두 세 네 다섯 여섯 일곱 여덟 아홉 열 열한 열두 시 반 그 이 저 내 제 네 우리 저희 "
    "누가 아무 모두 다 또 꼭 곧 막 더 월요일 화요일 수요일 목요일 금요일 토요일 일요일"
)
_NO_TOPIC = listed(
    "것 거 게 수 때 일 말 데 줄 뿐 만큼 정도 사람 사람들 누구 무엇 뭐 어디 언제 나 저 제 내 너 우리 저희 서로 "
    "그 이 자기 하나 둘 처음 마지막 다음 시간 마음 생각 이야기 얘기 소리 모습 자리 아무도 모두 다들 오늘 어제 "
    "내일 손 눈 눈물 얼굴 기분 걸음 머리 속 앞 뒤 옆 안 밖 위 아래 절반 하루 매일 이유 까닭 탓 덕분 입장료 "
    "이제 저녁 아침 점심"
)
_I = re.compile(r"^(?:나는|내가|나도|난|저는|제가|저도|전)\s+")
_SAYER = re.compile(r"(?<![가-힣])(?:내|나|제|저)(?=가\s|를\s|에게|한테|\s)")
"""Who says it, at the beginning of a deed and inside one."""
_NOUN = re.compile(r"(?P<noun>[가-힣A-Za-z0-9]{1,}?)(?P<josa>이|가|을|를|은|는)(?=[\s,.!?…]|$)")
_MODIFIER = re.compile(
    r"(?:에서|에게|한테|에|의|은|는|이|가|을|를|로|도|고|서|며|면|와|과|만|게|지|던|부터|까지|운|한|른|쁜|큰|할|될|린|진)$"
)
"""How a word ends that is no noun standing before another one."""
_ENDS_IN_RIEUL = "".join(chr(0xAC00 + 28 * number + 8) for number in range(399))
_OWN = re.compile(r"(?<![가-힣])(?:저|제|나|내|우리|저희)(?:는|가|도|를|한테|에게|만|랑|게)?(?![가-힣])|난 |전 ")
_YOU = re.compile(r"(?<![가-힣])(?:너|네가|니가|너희|당신|자네)(?:는|도|를|한테|의)?(?![가-힣])")
_COUNTED = "시|개|명|살|마리|번|장|권|해|달|가지|사람|집|곳|배|잔|그릇|시간|식구"
_TO_YOU = re.compile(
    rf"(?<![가-힣])(?:네|니) (?!{_COUNTED})[가-힣]|[{_ENDS_IN_RIEUL}]게(?:요)?[.!]|(?:자|잖아|잖아요)[.!]|\?"
)
"""`네 도시락`; and endings that speak to somebody: a promise, a proposal, a question."""
_COMMAND = re.compile(r"(?P<where>.+?(?:으로|로|에)) ?(?:가라|가 봐|가봐|가자|가야 해|가야겠다|가 보자|가)[.!]?$")
_INTENDS = re.compile(
    r"(?P<doing>[가-힣][가-힣 ]{1,40}?)(?P<open>으?)려고? (?:한다|마음먹|생각)"
    r"|(?P<made_up>[가-힣][가-힣 ]{1,40}?)기로 (?:했다|마음먹)"
)
_LEADING_TIME = re.compile(r"^(?:(?:이번|다음) [가-힣]+에|오늘[은]?|내일[은]?|이제[는]?|언젠가|꼭|드디어) ")
_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
_ADJECTIVES = (
    "필요", "피곤", "궁금", "이상", "미안", "행복", "심심", "조용", "편", "불편", "답답", "섭섭", "든든", "대단",
)  # fmt: skip


def is_korean(word: str) -> bool:
    """Tells whether a word is written in Hangul."""
    return bool(_HANGUL.match(word))


@lru_cache(maxsize=65_536)
def content_word(word: str) -> str:
    """Returns the root of a Korean word that has a content of its own; empty for any other word."""
    noun = without_particle(word)
    found = root(stem(word))
    found = found if len(found) > 1 else noun
    return "" if len(found) < 2 or found in _COMMON or noun in _COMMON or is_grammar(word) else found


_HOURS = ("열두", "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열", "열한")
_CLOCK_PARTS = {"새벽": 6, "아침": 9, "오전": 12, "낮": 13, "오후": 18, "저녁": 21, "밤": 24}
_PARTS = {**_CLOCK_PARTS, "아침": 10, "낮": 14}
_SPANS = {0: "오늘", 1: "어제", 2: "그저께", -1: "내일"}
_COUNTED_TIMES = {1: "한", 2: "두", 3: "세", 4: "네", 5: "다섯", 6: "여섯", 7: "일곱", 8: "여덟", 9: "아홉", 10: "열"}
_TODAY = re.compile(r"(?<![가-힣])(방금|오늘|어제|그저께|내일)에(는)?(?= |,)")
"""Days that take no `에`."""
_BOTH = re.compile(r"(.)(?:(이에요)/(예요)|(이지요)/(지요)|\((이)\)(?=라고))")
"""Endings with both forms, as `josa` has particles."""

_ASKED_WHAT = ("무엇", "무슨", "뭐", "뭘", "어떻", "어떤", "왜", "누가", "누구", "언제", "어디", "어느", "몇", "얼마")
_ASKED_YES = re.compile(r"(?:까요?|나요|는가요?|은가요?|ㄴ가요?|니|냐|나|가요?|죠|지요)\s*[?？]*$")
_ASKED_BETWEEN = re.compile(r"(\S+?)(?:와|과|이나|나|이랑|랑|하고)\s+(\S+?)\s*(?:중에?서?|가운데|사이|둘)(?=\s|,|$)")
_ASKED_EITHER = tuple(
    re.compile(rf"(?:^|\s)(\S+?)(?:{josa}) [^?,]*[?,]?\s+(?:아니면|혹은|또는)\s+(\S+?)(?:{josa}) ")
    for josa in ("이|가", "을|를", "은|는", "으로|로", "에서|에")
)
"""`A가 더 …, 아니면 B가 더 …`: two nouns with the same particle."""
_ASKED_TWICE = re.compile(r"(\S+?)(?:이|가|을|를|으로|로|에) (\S+까)[,?]?\s+(\S+?)(?:이|가|을|를|으로|로|에) \2")
"""`A를 …할까 B를 …할까`."""
_ASKED_OR = re.compile(r"(\S+)(?:\s+\S+(?:까|나|니|가))?[,?]?\s+(?:아니면|혹은|또는)\s+(\S+)")


class Korean(Language):
    """Korean."""

    english_name = "Korean (한국어)"
    letters = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]")
    least_own = 0.3
    leak = 20
    shortest_echo = 4
    shortest_word = 2
    has_particles = True
    has_levels = True

    def levelled(self, template: str, level: str) -> str:
        polite, _, plain = template.partition(EITHER)
        if level != PLAIN:
            return polite
        return plain or to_a_friend(polite)

    def said(self, text: str, level: str) -> str:
        return to_a_friend(text, of_others=True) if level == PLAIN else to_an_elder(text)

    def leads_in(self, text: str) -> bool:
        return "?" in text or bool(_LEADS_IN.match(text))

    def joined(self, text: str) -> str:
        text = _TODAY.sub(lambda found: f"{found[1]}{'은(는)' if found[2] else ''}", text)
        return resolved(_BOTH.sub(_ending, text))

    def length(self, text: str) -> int:
        return len(text) + 2 * len(_HANGUL.findall(text))

    def occurs(self, phrases: Iterable[str], text: str) -> bool:
        spoken = f" {' '.join(words(text))} "
        # A phrase is the beginning of a word, since endings follow; after a hyphen, the end of one.
        return any(f"{one[1:]} " in spoken if one[0] == "-" else f" {one}" in spoken for one in phrases)

    def in_order(self, text: str) -> tuple[str, ...]:
        return tuple(without_particle(word) for word in words(text))

    def speaks(self, text: str) -> bool:
        return bool(text) and 2 * len(re.findall("[가-힣]", text)) >= len(re.findall("[A-Za-z]", text))

    def counts(self, text: str) -> bool:
        return bool(re.search(r"\d|[한두세네]\s|하나|둘|셋|다섯|여섯|일곱|여덟|아홉|열|백|천|만\s", text))

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
        part = part_at(hour, _CLOCK_PARTS)
        tail = "" if minute < 3 else " 반" if 28 <= minute <= 32 else f" {minute}분"
        return f"{part} {_HOURS[hour % 12]} 시{tail}"

    def at_time(self, time: str) -> str:
        return f"{self.clock(time)}에"

    def part(self, days: int, start: int, moment: str) -> str:
        part = part_at(start // 60 % 24, _PARTS)
        if days == 1 and part == "밤":
            return "어젯밤"
        return f"{self._day(days, moment)} {part}"

    def _day(self, days: int, moment: str) -> str:
        if days in _SPANS:
            return _SPANS[days]
        past = datetime.fromisoformat(moment) - timedelta(days=days)
        return weekdays("ko")[past.weekday()] if days < 7 else "지난주"

    def span(self, days: int, start: int, end: int, moment: str) -> str:
        if end - start >= 24 * 60:
            return self._day(days, moment)
        if end - start <= 60:
            return f"{self._day(days, moment)} {self.clock(f'{(start + 30) // 60 % 24:02d}:{(start + 30) % 60:02d}')}쯤"
        return f"{self._day(days, moment)} 저녁" if start >= 17 * 60 else self.part(days, start, moment)

    def times(self, count: int) -> str:
        return f"{_COUNTED_TIMES.get(count, '여러')} 번"

    def at(self, name: str) -> str:
        return f"{name}에서" if name else ""

    def place(self, name: str, me: Speaker, you: Hearer | None = None) -> str:
        people: list[tuple[Called, str]] = [(me, "우리" if you else "제")]
        if you:
            people.append((you, "너희" if self.level(you) == PLAIN else "그"))
        for person, own in people:
            for called in (person.called, person.name, given_name(person.name, person.called)):
                owner = next(
                    (one for one in (f"{called}네 ", f"{called}이네 ", f"{called}의 ") if name.startswith(one)), ""
                )
                if owner:
                    return f"{own} {name.removeprefix(owner)}"
        return name

    def manner(self, me: Living, you: Living, label: str, back: str, *, close: bool) -> Manner:
        return manner(me, you, label, back, close=close)

    def level(self, you: Hearer) -> str:
        return PLAIN if you.level == PLAIN else POLITE

    def vocative(self, you: Hearer) -> str:
        if you.address or not you.called:
            return you.address
        if self.level(you) == PLAIN:
            return vocative(you.name, you.called)
        return you.called if you.called.endswith(ENDS) else f"{you.called} 씨"

    def third(self, called: str, level: str) -> str:
        if called.endswith(ENDS) or " " in called:
            return called
        if level == PLAIN:
            return f"{called}이" if is_korean(called) and final(called[-1]) > 0 else called
        return f"{called} 씨"

    def possessed(self, called: str) -> str:
        return f"{called}의"

    def mentions(self, text: str, name: str, called: str) -> bool:
        names = {name, called, given_name(name, called)} - {""}
        return any(re.search(rf"(?<![가-힣]){re.escape(one)}", text) for one in names if len(one) > 1)

    def addresses(self, text: str) -> bool:
        return bool(_YOU.search(text) or _TO_YOU.search(text))

    def is_own(self, line: str) -> bool:
        return bool(_OWN.search(line))

    def first_person(self, me: Speaker, text: str) -> list[str]:
        return [_first_person(me, sentence) for sentence in re.split(r"(?<=[.!?])\s+", text.strip()) if sentence]

    def label(self, me: Speaker, label: str) -> str:
        return re.sub(rf"^{re.escape(me.called)}의 ", "제 ", label)

    def noun_phrase(self, text: str, subject: str = "") -> str:
        return subject or _object_of(text) or _noun_phrase(text)

    def is_common(self, topic: str) -> bool:
        return is_korean(topic)

    def both(self, topics: list[str]) -> str:
        return resolved("과(와) ".join(topics))

    def in_memory(self, slots: Mapping[str, str]) -> Mapping[str, str]:
        if "doing" not in slots:
            return slots
        doing = slots["doing"]
        return {**slots, "to_do": f"{_decided(doing)}로", "doing": ongoing(doing)}

    def is_doing(self, text: str) -> bool:
        return bool(doing_stem(text))

    def asks_yes(self, prompt: str) -> bool:
        return not any(word in prompt for word in _ASKED_WHAT) and bool(_ASKED_YES.search(prompt.strip().rstrip(".!")))

    def sides(self, prompt: str) -> tuple[str, str] | None:
        if found := _ASKED_BETWEEN.search(prompt):
            return found[1], found[2]
        if found := next((found for either in _ASKED_EITHER if (found := either.search(prompt))), None):
            return found[1], found[2]
        if found := _ASKED_TWICE.search(prompt):
            return found[1], found[3]
        if found := _ASKED_OR.search(prompt):
            a, b = (without_particle(one.strip(",?.!")) for one in found.groups())
            return a, b
        return None

    def head(self, doing: str) -> str:
        parts = doing_stem(doing).split(" ")
        return " ".join(parts[-2:]) if parts[-1] == "있" else parts[-1]

    def doing(self, doing: str) -> Slots:
        bare = doing_stem(doing)
        if not bare:
            return {"doing": doing, **{form: f"{doing}{end}" for form, end in _BEING.items() if self.speaks(doing)}}
        noun, will = f"{bare}기", conjugation.future(bare)
        forms = {
            "doing": noun,
            "go": f"{bare}고",
            "while": conjugation.ongoing(bare),
            "am": f"{bare}고 있어요",
            "was": f"{bare}고 있었어요",
            "often": f"{bare}곤 해요",
            "will_be": f"{will} 거예요",
        }
        if len(bare) > LONG:
            return forms
        short = noun if len(noun) <= SHORT else ""
        more = {"short": short, "did": conjugation.past(bare), "will": will, "hae": conjugation.informal(bare)}
        return forms | more

    def busy(self, me: Speaker, doing: str, *, own: bool = True) -> str:
        if not self.speaks(doing):
            return ""
        doing = ongoing(doing.strip().rstrip("."))
        doing = doing if doing.endswith("중") else f"{doing} 중"
        return re.sub(rf"{re.escape(me.called)}(?: 님)?[과와](?= )", "저와", doing) if not own else doing

    def goal(self, me: Speaker, goal: str) -> str:
        """Returns the stem before `고 싶어요`: `새 국물을 만든다` → `새 국물을 만들`."""
        del me
        return _plain_stem(goal.strip().rstrip("."))

    def intended(self, text: str, name: str) -> str:
        found = _INTENDS.search(text.removeprefix(name)) if text.startswith(name) else None
        if found is None:
            return ""
        doing = found["made_up"] or found["doing"]
        if found["open"] and final(doing[-1]) <= 0:
            doing += "으"
        doing = re.sub(r"^(?:은|는|이|가) ", "", doing)
        return f"{_LEADING_TIME.sub('', doing)}기"

    def commanded(self, text: str) -> str:
        found = _COMMAND.match(text.strip())
        return f"{found['where']} 가기" if found else ""

    def state(self, words: str, minutes_ago: int) -> Slots:
        said = informal_sentence(words)
        return {"words": said, "still": f"아직도 {said}" if said and minutes_ago >= 30 else said}

    def why(self, sentence: str) -> str:
        return informal_sentence(sentence)

    def uttered(self, sentence: str) -> str:
        said = informal_sentence(sentence)
        return f"{said}요." if said else sentence

    def told(self, sentence: str) -> str:
        """Returns the clause up to the past: `불이 꺼진다.` → `불이 꺼졌`."""
        body = sentence.strip()
        stem = body[:-1] if body.endswith("고") else stem_of(body)
        if not stem:
            return ""
        return stem if final(stem[-1]) == _SS else conjugation.past(stem)

    def reported(self, quote: str, pronoun: str, topic: str) -> str:
        del pronoun
        # Only what is about the topic: the rest of a line reacts to what was said before it.
        about = [one.strip() for one in _SENTENCE.findall(quote) if topic and topic.rsplit(" ", maxsplit=1)[-1] in one]
        return next((report for report in map(_reported, about) if report), "")

    def deed(self, text: str, me: Speaker) -> str:
        if text.startswith(me.called):
            return text
        turned = _SAYER.sub("자기", _I.sub("", text))
        return f"{self.joined(f'{me.called}이(가)')} {turned}"

    def sentences(self, doing: str, called: str) -> tuple[str, ...]:
        bare = doing_stem(doing)
        return (f"{self.joined(f'{called}이(가)')} {conjugation.plain(bare) if bare else doing}",)

    def quotable(self, quote: str, topic: str) -> str:
        about = [one.strip() for one in _SENTENCE.findall(quote) if topic and topic.rsplit(" ", maxsplit=1)[-1] in one]
        return next((one for one in about if one.endswith(".") and SHORTEST <= len(one) <= LONGEST), "")


_BEING = {"am": "이에요", "was": "이었어요", "often": "일 때가 많아요", "will_be": "일 거예요"}
SHORTEST, LONGEST = 12, 60
"""Letters of a sentence that is repeated word for word."""
LONG = 22
"""Letters of a doing from which a sentence has room for little else."""
SHORT = 12
"""Letters of a doing that may have words after it."""


def doing_stem(doing: str) -> str:
    """Returns the verb phrase of a doing: `국물 내기`, `국물을 내는 중` → `국물을 내`; empty for another form."""
    text = doing.strip().rstrip(".")
    if text.endswith("는 중") and len(text) > 4:
        return conjugation.whole(text[:-3])
    return text[:-1] if text.endswith("기") and ongoing(text) != text else ""


_JOINED = re.compile(r"(?:추어|하여|되어|이어|어서|아서)$")
"""How a verb ends that is joined to the next one: `맞추어 눕히기`."""


def _object_of(text: str) -> str:
    """Returns the object of a doing: `국물 내기` → `국물`; empty if it has none or is not a doing."""
    parts = doing_stem(text).split(" ")
    if len(parts) < 2:
        return ""
    object_of, particle = parts[-2], re.search(r"(을|를)$", parts[-2])
    if not particle and (_MODIFIER.search(object_of) or _JOINED.search(object_of)):
        return ""
    noun = object_of[:-1] if particle else object_of
    return "" if noun in _NO_TOPIC or noun in _TIMES or len(noun) < 2 else noun


_ENDS_IN_I = frozenset({"고양이", "아이", "어린이", "종이", "나이", "놀이", "먹이", "호랑이", "강냉이", "지팡이"})
"""Nouns whose last syllable only looks like a particle."""


def _noun_phrase(text: str) -> str:
    """Returns the first subject or object of a sentence, with up to two nouns before it: `떡 나눔 잔치`."""
    for found in _NOUN.finditer(text):
        noun, josa = found["noun"], found["josa"]
        before = text[: found.start()].split()
        if noun + josa in _ENDS_IN_I or (text[: found.start()] and not text[: found.start()].endswith(" ")):
            continue
        sound = final(noun[-1])
        if sound >= 0 and (sound > 0) != (josa in "이을은"):
            continue
        if noun in _NO_TOPIC or noun in _TIMES or len(noun) < 2 or is_grammar(noun) or _MODIFIER.search(noun):
            continue
        phrase = [noun]
        while before and len(phrase) < 3:
            word = before.pop()
            if not re.fullmatch(r"[가-힣]+", word) or word in _TIMES or _MODIFIER.search(word):
                break
            phrase.insert(0, word)
        return " ".join(phrase)
    return ""


_LEADS_IN = re.compile(
    r"^(?:[^.!?]{0,24}(?:데요?|면요?|있잖아요?|맞다|참|까요?|서요?),|(?:맞다|참|있잖아요?|하나는 확실해요?)\.)"
)
_LEAD = re.compile(r"^[^,]{2,20}(?:데|면|만|참|게), ")
"""Words before a comma that only lead up to what follows: `생각해 봤는데, `."""
_SPEAKER = re.compile(r"(?<![가-힣])(?:저는|나는|제가|내가|난|전) ")
_SPEAKERS = re.compile(r"(?<![가-힣])(?:제|내)(?= )")
_TO_SPEAKER = re.compile(r"(?<![가-힣])(?:저|나)(?=한테|에게|를|도|랑|만)")


def _reported(sentence: str) -> str:
    """Returns a statement as somebody else passes it on, up to 대: `제 시계가 멈췄어요.` → `자기 시계가 멈췄대`; empty
    if that is not possible."""
    if not 5 <= len(sentence) <= 60 or sentence.endswith("?") or _YOU.search(sentence):
        return ""
    said = _LEAD.sub("", to_a_friend(sentence).rstrip(".!… "))
    said = _TO_SPEAKER.sub("자기", _SPEAKERS.sub("자기", _SPEAKER.sub("", said)))
    for end, instead in (("거야", "거래"), ("이야", "이래"), ("싶어", "싶대"), ("좋아", "좋대"), ("같아", "같대")):
        if said.endswith(end):
            return said.removesuffix(end) + instead
    last = said[-2:-1]
    if said.endswith("어") and last and (final(last) == _SS or said.endswith(("있어", "없어"))):
        return f"{said[:-1]}대"
    return f"{said[:-1]}하대" if said.endswith("해") and said[:-1].endswith(_ADJECTIVES) else ""


def _decided(doing: str) -> str:
    """Returns an activity as something one decides to do: `국물을 내기`, also for `국물을 내는 중`."""
    if ongoing(doing) != doing:  # it ends in 기
        return doing
    decided = planned(doing)
    return decided if decided != doing else f"{doing}이기"


def _ending(found: re.Match[str]) -> str:
    with_one, without = next(pair for pair in ((found[2], found[3]), (found[4], found[5]), (found[6], "")) if pair[0])
    return found[1] + (with_one if final(found[1]) > 0 else without)


def _first_person(me: Speaker, sentence: str) -> str:
    names = "|".join(re.escape(one) for one in sorted({me.name, me.called}, key=len, reverse=True) if one)
    text = re.sub(rf"(?<![{HANGUL}])(?:{names})(?:이)?(?:은|는)(?![{HANGUL}])", "저는", sentence)
    text = re.sub(rf"(?<![{HANGUL}])(?:{names})(?:이|가)(?![{HANGUL}])", "제가", text)
    text = re.sub(rf"(?<![{HANGUL}])(?:{names})(?:이)?의(?![{HANGUL}])", "제", text)
    text = re.sub(rf"(?<![{HANGUL}])(?:{names})(?:이)?(?=에게|를|와|도|한테)", "저", text)
    return polite(text)


_N, _L, _B, _SS = 4, 8, 17, 20
"""Numbers of final consonants."""


def polite(sentence: str) -> str:  # noqa: PLR0911 - one case of the conjugation after another
    """Returns a plain statement said politely: `골목에서 국숫집을 한다.` → `골목에서 국숫집을 해요.`

    Past forms, `있다`, `없다`, `하다` and the copula become 해요; all others take the formal form, which is regular.
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


def _plain_stem(sentence: str) -> str:
    """Returns the stem of a plain sentence: `만든다` → `만드`, `먹는다` → `먹`, `하기` → `하`."""
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


GRAMMAR = Korean()
