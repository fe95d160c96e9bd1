"""Korean words by rule: what a word is without its particle or ending, and whether it only carries grammar.

The rules know no dictionary. They cut what is spelt like a particle or an ending, the longest first, and always leave
one syllable, so they cut a few nouns too (`바다` gives `바`). That does no harm where a text and a question are cut by
the same rules and their uncut words are compared as well.
"""

from __future__ import annotations

import re
from functools import lru_cache

from commonplace.languages import word_list

FIRST, LAST = 0xAC00, 0xD7A3
"""The first and the last syllable of Unicode. Each is 588 · initial + 28 · vowel + final after the first."""
_FINALS, _VOWELS = 28, 21
_SYLLABLE = re.compile("[가-힣]")

_AFTER_ANY = (
    "에 에서 에게 에게서 한테 한테서 께 께서 까지 부터 처럼 보다 마다 조차 마저 밖에 하고 의 도 만 에다 에다가 "
    "이라도 대로 만큼 씩 쯤 들 들이 들은 들을 들의 들도 들에게 들한테"
)
_AFTER_FINAL = "은 이 을 과 이랑 으로 으로서 으로써 아 이나 이란 이라는 이라고"
_AFTER_VOWEL = "는 가 를 와 랑 로 로서 로써 야 나 란 라는 라고"
_FOLLOWING = "는 은 도 만 의 요"
"""Particles that may follow another: `에서는`, `한테도`."""

_HONORIFIC = "시셨셔신실십"
_TENSE = "(?:었|았|였|겠|웠)*"
_COPULA = (
    "이다 이야 이에요 이었다 이었어 이었지 이고 이지 이네 이라 이라서 이라고 이라는 이면 이며 이니 이니까 이냐 "
    "이던 이든 인 인데 인가 인지 입니다 입니까 일까"
)
_ENDINGS = (
    "다 어 아 여 지 죠 네 니 냐 나 는 은 을 던 고 서 면 려고 으려고 러 으러 며 으며 음 기 기로 게 자 자고 자마자 "
    "더라 더라고 던데 대 래 까 에 예 에요 예요 어서 아서 여서 어도 아도 여도 어야 아야 여야 야 야지 으면 려면 "
    "으려면 으니 니까 으니까 지만 거나 거든 도록 다가 면서 으면서 느라 는데 은데 는지 은지 을지 을까 을게 을래 "
    "니다 습니다 습니까 세 으세 는다 다고 다는 다며 다면 다니 는다고 는대 라 라고 라며 라는 구나 는구나 군 워 "
    "워서 운"
)
_POLITE = "요"
_ONLY_AFTER_FINAL = "으은을음습"

PLAIN = {
    "어머니": "엄마", "어머님": "엄마", "아버지": "아빠", "아버님": "아빠", "할머님": "할머니",
    "댁": "집", "진지": "밥", "성함": "이름", "연세": "나이", "생신": "생일",
    "말씀": "말", "드시": "먹", "주무시": "자", "계시": "있", "드리": "주",
    "여쭈": "묻", "뵈": "보", "저희": "우리",
}  # fmt: skip
"""Honorific words → plain ones, by their roots: the same is said in both styles."""


def _longest_first(*listed: str) -> str:
    return "|".join(sorted({form for text in listed for form in text.split()}, key=lambda form: (-len(form), form)))


_PARTICLES = {
    final: re.compile(f"(?:{_longest_first(_AFTER_ANY, after)})(?:{_longest_first(_FOLLOWING)})?")
    for final, after in ((True, _AFTER_FINAL), (False, _AFTER_VOWEL))
}
"""Whether the syllable before has a final consonant → the particles that may follow it."""
_ENDING = re.compile(
    f"(?:으?[{_HONORIFIC}])?{_TENSE}(?:{_longest_first(_ENDINGS, _COPULA)}){_POLITE}?|으?셔요?|으신|으실|요"
)
_LONGEST = 7
RIEUL = 8
_OPEN_FINALS = {0, RIEUL}
"""None and ㄹ: `로` follows them, `으로` the others."""
_INFLECTED_FINALS = {4, 8, 16, 17, 20}
"""ㄴ ㄹ ㅁ ㅂ ㅆ: finals by which verbs inflect: 간, 갈, 감, 갑니다, 갔다."""
_CONTRACTED = {14: 13, 9: 8, 6: 20, 10: 11}
"""Vowels into which that of a verb and 어 or 아 were contracted → that of the verb: ㅝ, ㅘ, ㅕ, ㅙ → ㅜ, ㅗ, ㅣ, ㅚ."""
_HIEUT, _A, _AE = 18, 0, 1


def without_particle(word: str) -> str:
    """Returns the word without its particles, `빵에서는` → `빵`; at least one syllable stays."""
    for size in range(min(_LONGEST, len(word) - 1), 0, -1):
        rest, tail = word[:-size], word[-size:]
        after = final(rest[-1])
        if _PARTICLES[after > 0].fullmatch(tail) or (after in _OPEN_FINALS and tail.startswith("로") and size == 1):
            return rest
    return word


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Returns the word without particles and ending: `지은이는` → `지은`, `먹었어요` → `먹`; at least one syllable
    stays."""
    for _ in range(2):  # `지은이` is a name with a suffix that particles may follow
        word = without_particle(word)
    if word in PLAIN:
        return word
    for size in range(min(_LONGEST, len(word) - 1), 0, -1):
        rest, tail = word[:-size], word[-size:]
        if tail[0] in _HONORIFIC and rest + "시" in PLAIN:
            return rest + "시"
        if _ENDING.fullmatch(tail) and (tail[0] not in _ONLY_AFTER_FINAL or final(rest[-1])):
            return rest
    return word


def root(stem: str) -> str:
    """Returns a stem with its last syllable as it was before inflection, `다쳤`, `다친` → `다치`; `했` → `하`.

    Honorific words become plain ones.
    """
    number = ord(stem[-1]) - FIRST
    if not 0 <= number <= LAST - FIRST:
        return stem
    initial, (vowel, final) = number // (_VOWELS * _FINALS), divmod(number % (_VOWELS * _FINALS), _FINALS)
    if final in _INFLECTED_FINALS:
        final = 0
    if not final:
        vowel = _A if (initial, vowel) == (_HIEUT, _AE) else _CONTRACTED.get(vowel, vowel)
    found = stem[:-1] + chr(FIRST + (initial * _VOWELS + vowel) * _FINALS + final)
    return PLAIN.get(stem) or PLAIN.get(found, found)


def is_grammar(word: str) -> bool:
    """Tells whether a word only carries grammar: question words, 것, 수, 하다, 있다, 되다 in any form, and lone
    particles."""
    short = stem(word)
    forms = (word, without_particle(word), short, short + "다", root(short) + "다")
    return not word_list("ko").function.isdisjoint(forms)


def final(syllable: str) -> int:
    """Returns the number of the final consonant, 0 for none and for any other sign."""
    return (ord(syllable) - FIRST) % _FINALS if _SYLLABLE.match(syllable) else 0


def is_akin(word: str, text: str) -> bool:
    """Tells whether a text has a word that may be a form of the same verb: `이겨요` and `이기고` begin with 이 and ㄱ.

    `먹어요` and `먹고` have the same first syllable, which ends in a consonant that does not change.
    """
    first, after = word[0], (ord(word[1]) - FIRST) // (_VOWELS * _FINALS)
    is_closed = final(first) not in {0} | _INFLECTED_FINALS
    return any(
        other[0] == first and (is_closed or (ord(other[1]) - FIRST) // (_VOWELS * _FINALS) == after)
        for other in re.findall("[가-힣]{2,}", text)
    )
