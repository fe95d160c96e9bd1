"""How the simulator words what becomes a memory: one template for each percept and kind of plan, in each language.

Memories of what happened are made of these sentences and never of a model's claims. Third person; what others do in
the present tense, what one did oneself in the past.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.josa import ongoing, planned, resolved

Frame = Mapping[str, str]

_ENGLISH = {
    "doing": "{name} is {doing}.",
    "asleep": "{name} is asleep.",
    "arrived": "{name} comes in from {other_name}.",
    "left": "{name} leaves for {other_name}.",
    "joined": "{name} has come to {place_name}.",
    "gone": "{name} is gone from {place_name}.",
    "said": "{name} says to {to_name}: “{quote}”",
    "talk": "{name} is starting a conversation with {to_name}.",
    "acted": "{name} tries to {verb_word} {the_object}, but {why}",
    "thing": "{The_object} {words}.",
    "here": "{The_object} is at {place_name}.",
    "missing": "{The_object} is not at {place_name} any more.",
    "weather.rain": "It begins to rain.",
    "weather.storm": "A storm breaks over {root}.",
    "weather.snow": "It begins to snow.",
    "weather.fog": "Fog comes down over {root}.",
    "weather.cloudy": "Clouds cover the sky.",
    "weather.clear": "The sky clears.",
    "weather.over": "The rain stops.",
    "time.dawn": "Dawn comes to {root}.",
    "time.morning": "It is morning in {root}.",
    "time.midday": "It is midday in {root}.",
    "time.afternoon": "It is afternoon in {root}.",
    "time.evening": "Evening falls on {root}.",
    "time.night": "It is night in {root}.",
    "voice": "{name} has a thought that will not go away: {text}",
    "i_said": "{name} said to {to_name}: “{quote}”",
    "did": "{name} was {doing}.",
    "progress": "{name} was {doing}. {step}",
    "walked": "{name} walked to {to_place}.",
    "lost": "{name} reached for {the_object}, but {other_name} has it now.",
    "refused": "{name} tried to {verb_word} {the_object}, but {why}",
    "absent": "{name} looked for {the_object} at {place_name}, but it is not there.",
    "closed": "{name} wanted to go to {to_place}, but {why}.",
    "rejected": "{name} wanted to do something that could not be done: {why}.",
    "plan": "{name} plans to be {doing} at {place_name} from {start} to {end} on {weekday}.",
    "hour": "{name} means to spend {start} to {end} {doing}.",
    "intent": "{name} means to do this: “{quote}”",
    "new_plan": "{name} decides on {doing} at {place_name} at {start} on {weekday}.",
}

_KOREAN = {
    "doing": "{name}은(는) {doing}(이)다.",
    "asleep": "{name}은(는) 자고 있다.",
    "arrived": "{name}이(가) {other_name}에서 들어온다.",
    "left": "{name}이(가) {other_name} 쪽으로 떠난다.",
    "joined": "{name}이(가) {place_name}에 왔다.",
    "gone": "{name}은(는) 이제 {place_name}에 없다.",
    "said": "{name}이(가) {to_name}에게 말한다: “{quote}”",
    "talk": "{name}이(가) {to_name}에게 말을 건다.",
    "acted": "{name}이(가) {the_object}을(를) {verb_word} 하지만, {why}",
    "thing": "{The_object}은(는) {words}.",
    "here": "{The_object}이(가) {place_name}에 있다.",
    "missing": "{The_object}이(가) 이제 {place_name}에 없다.",
    "weather.rain": "비가 내리기 시작한다.",
    "weather.storm": "{root}에 폭풍우가 몰아친다.",
    "weather.snow": "눈이 내리기 시작한다.",
    "weather.fog": "{root}에 안개가 내려앉는다.",
    "weather.cloudy": "구름이 하늘을 덮는다.",
    "weather.clear": "하늘이 갠다.",
    "weather.over": "비가 그친다.",
    "time.dawn": "{root}에 새벽이 온다.",
    "time.morning": "{root}은(는) 아침이다.",
    "time.midday": "{root}은(는) 한낮이다.",
    "time.afternoon": "{root}은(는) 오후다.",
    "time.evening": "{root}에 저녁이 내린다.",
    "time.night": "{root}은(는) 밤이다.",
    "voice": "{name}에게 떨쳐지지 않는 생각이 있다: {text}",
    "i_said": "{name}은(는) {to_name}에게 말했다: “{quote}”",
    "did": "{name}은(는) {doing}(이)었다.",
    "progress": "{name}은(는) {doing}(이)었다. {step}",
    "walked": "{name}은(는) {to_place}(으)로 걸어갔다.",
    "lost": "{name}은(는) {the_object}을(를) 집으려 했지만, 이제 {other_name}에게 있다.",
    "refused": "{name}은(는) {the_object}을(를) {verb_word} 했지만, {why}",
    "absent": "{name}은(는) {place_name}에서 {the_object}을(를) 찾았지만, 거기 없다.",
    "closed": "{name}은(는) {to_place}(으)로 가려 했지만, {why}.",
    "rejected": "{name}은(는) 할 수 없는 일을 하려 했다: {why}.",
    "plan": "{name}은(는) {weekday} {start}부터 {end}까지 {place_name}에서 {to_do} 한다.",
    "hour": "{name}은(는) {start}부터 {end}까지 {to_do} 한다.",
    "intent": "{name}은(는) 이렇게 하려 한다: “{quote}”",
    "new_plan": "{name}은(는) {weekday} {start}에 {place_name}에서 {to_do} 마음먹는다.",
}

_ENGLISH_VERBS = {"USE": "use", "OPEN": "open", "CLOSE": "close", "TAKE": "take", "DROP": "put down"}

_KOREAN_VERBS = {"USE": "쓰려", "OPEN": "열려", "CLOSE": "닫으려", "TAKE": "집으려", "DROP": "내려놓으려"}

SENTENCES: Mapping[str, Mapping[str, str]] = {"en": _ENGLISH, "ko": _KOREAN}
VERB_WORDS: Mapping[str, Mapping[str, str]] = {"en": _ENGLISH_VERBS, "ko": _KOREAN_VERBS}
DOING: Mapping[str, Mapping[str, str]] = {
    "en": {
        "talking": "talking with {name}",
        "resting": "resting",
        "waiting": "waiting",
        "listening": "listening",
        "thinking": "thinking",
        "asleep": "asleep",
    },
    "ko": {
        "talking": "{name}과(와) 이야기하는 중",
        "resting": "쉬는 중",
        "waiting": "기다리는 중",
        "listening": "듣는 중",
        "thinking": "생각하는 중",
        "asleep": "자는 중",
    },
}
"""What somebody is seen doing when neither plan nor mind has said so."""


WISHES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "repair": "mend {thing}",
        "lend": "lend {x} {topic}",
        "give": "bring {x} {topic}",
        "return": "give {x} back {topic}",
        "help": "give {x} a hand with {topic}",
        "visit": "drop in on {x}",
        "call": "drop in on {x} for {topic}",
        "host_visit": "have {x} over for {topic}",
        "host_help": "get on with {topic} together with {x}",
        "event": "meet {x} at {place}",
        "apologise": "apologise to {x} about {topic}",
        "apologise_plain": "apologise to {x}",
        "reproach": "have it out with {x} about {topic}",
        "reproach_plain": "have it out with {x}",
        "make_up": "make up with {x}",
    },
    "ko": {
        "repair": "{thing} 고치기",
        "lend": "{x}에게 {topic} 빌려주기",
        "give": "{x}에게 {topic} 가져다주기",
        "return": "{x}에게 {topic} 돌려주기",
        "help": "{x}의 {topic} 도와주기",
        "visit": "{x} 보러 들르기",
        "call": "{topic} 먹으러 {x}에게 들르기",
        "host_visit": "{topic} 차려 놓고 {x} 기다리기",
        "host_help": "{x}과(와) {topic} 같이 하기",
        "event": "{place}에서 {x} 만나기",
        "apologise": "{x}에게 {topic} 일로 사과하기",
        "apologise_plain": "{x}에게 사과하기",
        "reproach": "{x}에게 {topic} 일을 따지기",
        "reproach_plain": "{x}에게 서운하다고 말하기",
        "make_up": "{x}과(와) 화해하기",
    },
}
"""What a character means to do, as it would say `I want to …`; in Korean as a noun."""


def wished(language: str, kind: str, **slots: str) -> str:
    """The words of a goal."""
    plain = f"{kind}_plain"
    kind = plain if not slots.get("topic", "-") and plain in WISHES[language] else kind
    return resolved(WISHES[language][kind].format_map(slots))


def _decided(doing: str) -> str:
    """An activity as what one decides on: `국물을 내기`, also of `국물을 내는 중`."""
    if ongoing(doing) != doing:  # it ends in 기
        return doing
    decided = planned(doing)
    return decided if decided != doing else f"{doing}이기"


def sentence(language: str, kind: str, **slots: str) -> str:
    """The sentence for one kind of percept or plan."""
    if language == "ko" and "doing" in slots:
        slots["to_do"] = f"{_decided(slots['doing'])}로"
        slots["doing"] = ongoing(slots["doing"])
    return resolved(SENTENCES[language][kind].format_map(slots))


def doing(language: str, kind: str, name: str = "") -> str:
    """The words for somebody who does nothing in particular."""
    return resolved(DOING[language][kind].format(name=name))


def verb_word(language: str, verb: str) -> str:
    """`USE` as it reads in a sentence."""
    return VERB_WORDS[language].get(verb, verb.lower())


def the(name: str) -> str:
    """`stock pot` → `the stock pot`; names that begin with a capital, an article or Hangul stay as they are."""
    first = name[:1]
    return name if first.isupper() or not first.isascii() or name.startswith(("the ", "a ", "an ")) else f"the {name}"


def the_thing(language: str, name: str) -> str:
    """`Moon Courier machine` → `the Moon Courier machine`: an object is no person, whatever it is called."""
    has_owner = name.partition(" ")[0].endswith("'s")
    return (
        f"the {name}" if language == "en" and not has_owner and the(name) == name and name[:1].isupper() else the(name)
    )


def ended(text: str) -> str:
    """The text with a full stop where it has no end of its own."""
    return text if text.endswith((".", "!", "?", "…", "”", '"')) else f"{text}."


def capital(text: str) -> str:
    """The text with its first letter raised."""
    return text[:1].upper() + text[1:]


LOWERED = {
    "A", "An", "All", "Every", "It", "Its", "Nobody", "Nothing", "No", "None", "Somebody", "Someone",
    "That", "The", "There", "These", "They", "This", "You", "Your",
}  # fmt: skip


def lowered(text: str) -> str:
    """A refusal's sentence as the end of another: its first letter in lower case, unless a name begins with it."""
    return text[:1].lower() + text[1:] if text.split(" ", 1)[0] in LOWERED else text
