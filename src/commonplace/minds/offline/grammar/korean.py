"""Korean as the offline mind speaks it: words, people, topics, doings and states in a sentence.

Templates are written once, in 해요체; `levelled` makes what one says to a friend. `걸음이 빠르세요. | 걸음이 빠르네.`
gives both where a rule would not do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from commonplace.character.levels import ENDS, PLAIN, POLITE, given_name, vocative
from commonplace.josa import ongoing, resolved
from commonplace.memory.korean import is_grammar, root, stem, without_particle
from commonplace.minds.notes import Person, Who
from commonplace.minds.offline.grammar import conjugation, tongues
from commonplace.minds.offline.grammar.conjugation import final, informal_sentence, stem_of, to_a_friend, to_an_elder
from commonplace.minds.offline.grammar.english import listed
from commonplace.text import words

Slots = Mapping[str, str]
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
_NOUN = re.compile(r"(?P<noun>[가-힣A-Za-z0-9]{1,}?)(?P<josa>이|가|을|를|은|는)(?=[\s,.!?…]|$)")
_MODIFIER = re.compile(
    r"(?:에서|에게|한테|에|의|은|는|이|가|을|를|로|도|고|서|며|면|와|과|만|게|지|던|부터|까지|운|한|른|쁜|큰|할|될|린|진)$"
)
"""How a word ends that is no noun standing before another one."""
_SKIES = {"rain": "비", "storm": "폭풍우", "snow": "눈", "fog": "안개", "cloudy": "구름", "clear": "맑은 하늘"}
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
_TODAY = re.compile(r"(?<![가-힣])(방금|오늘|어제|그저께|내일)에(?= |,)")
_ADJECTIVES = (
    "필요",
    "피곤",
    "궁금",
    "이상",
    "미안",
    "행복",
    "심심",
    "조용",
    "편",
    "불편",
    "답답",
    "섭섭",
    "든든",
    "대단",
)


def is_korean(word: str) -> bool:
    """Whether a word is written in Hangul."""
    return bool(_HANGUL.match(word))


@lru_cache(maxsize=65_536)
def content_word(word: str) -> str:
    """The root of a Korean word that tells something; empty for any other."""
    noun = without_particle(word)
    found = root(stem(word))
    found = found if len(found) > 1 else noun
    return "" if len(found) < 2 or found in _COMMON or noun in _COMMON or is_grammar(word) else found


class Korean:
    """Korean."""

    def levelled(self, template: str, level: str) -> str:
        polite, _, plain = template.partition(EITHER)
        if level != PLAIN:
            return polite
        return plain or to_a_friend(polite)

    def said(self, text: str, level: str) -> str:
        return to_a_friend(text, of_others=True) if level == PLAIN else to_an_elder(text)

    def leads_in(self, text: str) -> bool:
        return "?" in text or bool(_LEADS_IN.match(text))

    def spelt_out(self, template: str) -> str:
        return template

    def joined(self, text: str) -> str:
        return _TODAY.sub(r"\1", resolved(text))

    def finished(self, text: str) -> str:
        return self.joined(" ".join(text.split()))

    def lowered(self, text: str) -> str:
        return text

    def length(self, text: str) -> int:
        return len(text) + 2 * len(_HANGUL.findall(text))

    def occurs(self, phrases: Iterable[str], text: str) -> bool:
        spoken = f" {' '.join(words(text))} "
        # A phrase is the beginning of a word, since endings follow; after a hyphen, the end of one.
        return any(f"{one[1:]} " in spoken if one[0] == "-" else f" {one}" in spoken for one in phrases)

    def in_order(self, text: str) -> tuple[str, ...]:
        return tuple(without_particle(word) for word in words(text))

    # ── time and place ──

    def when(self, moment: str, minutes_ago: int) -> str:
        return _TONGUE.when(moment, minutes_ago)

    def clock(self, time: str) -> str:
        return _TONGUE.clock(time)

    def named(self, name: str) -> str:
        return name

    def at(self, name: str) -> str:
        return f"{name}에서" if name else ""

    def owned(self, text: str, me: Who, you: Person) -> str:
        del me, you
        return text

    def place(self, name: str, me: Who, you: Person) -> str:
        yours = "너희" if self.level(you) == PLAIN else "그"
        for person, own in ((me, "우리"), (you, yours)):
            for called in (person.called, person.name, given_name(person.name, person.called)):
                owner = next(
                    (one for one in (f"{called}네 ", f"{called}이네 ", f"{called}의 ") if name.startswith(one)), ""
                )
                if owner:
                    return f"{own} {name.removeprefix(owner)}"
        return name

    def at_place(self, name: str, me: Who, you: Person) -> str:
        return self.at(self.place(name, me, you))

    # ── people ──

    def level(self, you: Person) -> str:
        return PLAIN if you.level == PLAIN else POLITE

    def vocative(self, you: Person) -> str:
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

    def pronouns(self, pronoun: str) -> Slots:
        del pronoun
        return {}

    def him(self, pronoun: str) -> str:
        del pronoun
        return ""

    def theirs(self, topics: str, pronoun: str) -> str:
        del pronoun
        return topics

    def mentions(self, text: str, name: str, called: str) -> bool:
        names = {name, called, given_name(name, called)} - {""}
        return any(re.search(rf"(?<![가-힣]){re.escape(one)}", text) for one in names if len(one) > 1)

    def names(self, text: str, name: str, called: str) -> bool:
        return self.mentions(text, name, called)

    def addressed(self, text: str, name: str, called: str) -> str:
        return "" if self.mentions(text, name, called) else text

    def addresses(self, text: str) -> bool:
        return bool(_YOU.search(text) or _TO_YOU.search(text))

    def taken(self, doing: str, pronoun: str, person: str) -> str:
        del pronoun, person
        return doing

    def is_own(self, line: str) -> bool:
        return bool(_OWN.search(line))

    # ── topics ──

    def noun_phrase(self, text: str, subject: str = "") -> str:
        return subject or _object_of(text) or _noun_phrase(text)

    def with_article(self, subject: str) -> str:
        return subject

    def bare(self, topic: str) -> str:
        return topic

    def turned(self, topic: str, my: str = "your", your: str = "my") -> str:
        del my, your
        return topic

    def may_be_yours(self, topic: str) -> bool:
        return bool(topic)

    def is_common(self, topic: str) -> bool:
        return is_korean(topic)

    def is_news(self, topic: str) -> bool:
        return is_korean(topic)

    def both(self, topics: list[str]) -> str:
        return resolved("과(와) ".join(topics))

    def possessed(self, called: str) -> str:
        return f"{called}의"

    def meeting(self, event: str) -> tuple[str, ...]:
        return (f"{event}에서 ",)

    # ── doings, states, reports ──

    def is_doing(self, text: str) -> bool:
        return bool(doing_stem(text))

    def head(self, doing: str) -> str:
        parts = doing_stem(doing).split(" ")
        return " ".join(parts[-2:]) if parts[-1] == "있" else parts[-1]

    def doing(self, doing: str, key: str = "doing") -> Slots:
        bare = doing_stem(doing)
        if not bare:
            return {key: doing}
        noun = f"{bare}기"
        if len(bare) > LONG:
            return {key: noun, "go": f"{bare}고", "while": conjugation.ongoing(bare)}
        return {
            key: noun,
            "short": noun if len(noun) <= SHORT else "",
            "go": f"{bare}고",
            "while": conjugation.ongoing(bare),
            "did": conjugation.past(bare),
            "will": conjugation.future(bare),
            "hae": conjugation.informal(bare),
        }

    def gerund(self, phrase: str) -> str:
        return phrase

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

    def sky(self, sky: str) -> str:
        return _SKIES.get(sky, sky)

    def going(self, do: str) -> str:
        return do.removesuffix(GOING).rpartition(" ")[2] if do.endswith(GOING) else ""

    def state(self, words: str, minutes_ago: int) -> Slots:
        said = informal_sentence(words)
        return {"words": said, "still": f"아직도 {said}" if said and minutes_ago >= 30 else said}

    def why(self, sentence: str) -> str:
        return informal_sentence(sentence)

    def told(self, sentence: str) -> str:
        """The clause up to the past: `불이 꺼진다.` → `불이 꺼졌`."""
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

    def quotable(self, quote: str, topic: str) -> str:
        about = [one.strip() for one in _SENTENCE.findall(quote) if topic and topic.rsplit(" ", maxsplit=1)[-1] in one]
        return next((one for one in about if one.endswith(".") and SHORTEST <= len(one) <= LONGEST), "")


_TONGUE = tongues.Korean()
SHORTEST, LONGEST = 12, 60
"""Letters of a sentence that is repeated word for word."""
LONG = 22
"""Letters of a doing from which a sentence has room for little else."""
SHORT = 12
"""Letters of a doing that may have words after it."""
GOING = " 보러 가기"
_SS = 20


def doing_stem(doing: str) -> str:
    """The verb phrase of a doing: `국물 내기`, `국물을 내는 중` → `국물을 내`; empty for another form."""
    text = doing.strip().rstrip(".")
    if text.endswith("는 중") and len(text) > 4:
        return conjugation.whole(text[:-3])
    return text[:-1] if text.endswith("기") and ongoing(text) != text else ""


_JOINED = re.compile(r"(?:추어|하여|되어|이어|어서|아서)$")
"""How a verb ends that is joined to the next one: `맞추어 눕히기`."""


def _object_of(text: str) -> str:
    """What a doing is done to: `국물 내기` → `국물`; empty for none and for any other text."""
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
    """The first subject or object of a sentence, with up to two nouns before it: `떡 나눔 잔치`."""
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
    """A statement as somebody else passes it on, up to 대: `제 시계가 멈췄어요.` → `자기 시계가 멈췄대`; or empty."""
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
