"""The speech guard: what a model writes becomes what a character may say.

Words only, in the language of the run, without a trace of instructions, models or markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from commonplace.languages import function_words
from commonplace.languages.language import language as spoken_language
from commonplace.minds.mind import Flaws
from commonplace.minds.prompts.prompt import Unusable
from commonplace.text import clean, shortened

LONGEST_LINE = 400
"""Characters of one line of speech."""
FOREIGN = 0.1
"""Largest share of letters that are neither Latin nor Hangul: Han, Kana, Cyrillic …, into which some models slip."""
EXCLAMATION = 8
"""Characters up to which a sentence is an exclamation."""
SEVERAL = 5
"""Words from which on a text in Latin letters is tried for another language written in them."""
LEAST_FOREIGN, FOREIGN_WORDS = 2, 0.2
"""Least number of function words of the other language, and their least share of the words."""
FEW_LETTERS = 4
"""A line with fewer letters (“OK.”, “네!”) may be in any script."""
WORDS = 0.35
"""Least share of letters and figures among the signs of a text; fragments of JSON and markup have fewer."""

_SPACES = re.compile(r"\s+")
_STAGE = re.compile(r"\*[^*]{1,80}\*")
_ASIDE = re.compile(r"[(（\[][^()（）\[\]]{1,80}[)）\]]")
_ACTED = re.compile(
    r"\b(?:smil|laugh|sigh|nod|shrug|grin|wink|paus|chuckl|giggl|whisper|frown|blush|lean|gestur|cough|wav|sob|gasp|yawn"
    r"|shak|tilt|sip|smirk|glanc|snort|hum|groan|bow|clap)\w*|\b(?:looking|looks|turning|turns|pointing|points|clears)\b"
    r"|웃|미소|한숨|고개|끄덕|잠시|눈을|손을|속삭|박수|하품|기침|어깨|두리번|찡긋|머뭇|망설",
    re.IGNORECASE,
)
_QUOTES = {"“": "”", '"': '"', "‘": "’", "'": "'", "「": "」", "『": "』", "«": "»"}
_MARKUP = re.compile(
    r"```|<\|?/?[a-z_]+\|?>|[{}]|\[\s*\"|\"\s*:\s*[\[\"]|\]\s*[\[,]|\[/?INST\]|\[\d+ [^\]]*\d\d:\d\d\]|\\[nu\"]",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"\bas an? (?:ai|artificial intelligence|language model|assistant)\b|\b(?:large )?language model\b|\bai assistant\b"
    r"|\bsystem prompt\b|\bI(?:'m| am) (?:Qwen|ChatGPT|GPT|Gemma|Gemini|Claude|Llama|Mistral|DeepSeek|Phi)\b"
    r"|\bI(?:'m| am) sorry,? but I (?:can(?:'t|not)|am (?:unable|not able))"
    r" (?:to )?(?:assist|help with|fulfil|comply|provide|generate|create|continue|discuss|answer that|engage|do that)"
    r"|\bI can(?:'t|not) (?:assist|fulfil|comply|generate)|\bhow (?:can|may) I (?:assist|help) you today"
    r"|\bI(?:'m| am) (?:just |only )?an? (?:AI|artificial intelligence)\b"
    r"|(?:나는|난|저는|전|내가|제가) (?:그냥 )?(?:AI|인공지능|에이아이)(?:라|이|예|야|입|인)"
    r"|AI로서|AI 언어|AI 모델|언어 모델|인공지능 (?:모델|비서|언어)|시스템 프롬프트"
    r"|저는 (?:Qwen|큐원|ChatGPT|챗GPT|Gemma|젬마|Claude|클로드)"
    r"|(?:죄송하지만|죄송합니다)[^.!?]{0,40}(?:도와드릴|답변(?:드릴|할)|제공할|생성할) 수 없",
    re.IGNORECASE,
)
_NOTHING = frozenset({"null", "none", "n/a", "undefined", "placeholder"})
"""What a model writes in place of words that it does not have."""
_ARTICLES = frozenset({"the", "a", "an"})
"""What nobody says without a noun."""
_WORD = re.compile(r"\w+")
_DESCRIBED = re.compile(r"(?:^|[{;,] ?)[a-z_]+: ([^:{}\[\]\n]+)", re.MULTILINE)
_PARTS = re.compile(r"[;,.\"“”]|\([^()]*\)")
_SILENCE = re.compile(r"[\s.…?!~—-]*")
"""What somebody says who finds no words."""
_SENTENCE_END = re.compile(r"[.!?…。][”’\"')]*(?=\s|$)")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]")
_FOREIGN = re.compile(
    "[\u0370-\u10ff\u1200-\u1dff\u2c00-\u2dff\u3041-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff"
    "\ua000-\ua95f\ua980-\uabff"
    "\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefc\U00010000-\U0001bfff\U00020000-\U0003ffff]"
)
"""Letters of all other scripts, by blocks: tables of letters change with Python."""
_FIGURE = re.compile("[0-9]")
_BLANK = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class SpeechGuard:
    """Checks what a model lets a character say. Raises `Unusable`; messages go on from a field's name: `must be …`."""

    language: str
    instructions: frozenset[str] = field(default_factory=frozenset[str])
    """The `shingles` of the instructions."""
    descriptions: frozenset[str] = field(default_factory=frozenset[str])
    """What the instructions say about single fields; see `descriptions`."""
    names: frozenset[str] = field(default_factory=frozenset[str])
    """The words of the answer's own schema: the names of its properties and of their types."""
    spent: frozenset[str] = field(default_factory=frozenset[str])
    """Lines that the prompt shows as a manner of speaking and that have been said, `folded`."""
    flaws: Flaws = field(default_factory=Flaws)
    """Grows with what is left out or shortened."""

    def line(self, text: str, names: Iterable[str] = (), longest: int = LONGEST_LINE) -> str:
        """Returns a line of speech without quotation marks, stage directions and the speaker's name in front (`names`).

        A line that is too long ends with its last sentence that fits. Empty if nothing is left.
        """
        text = self.own_words(text)
        self._refuse_machinery(text)
        words = unquoted(_without_asides(_STAGE.sub(" ", clean(text))).strip())
        words = self.own_words(unquoted(_without_speaker(clean(words), names)))
        self._refuse_other_languages(words)
        if any(line in folded(words) for line in self.spent):
            raise Unusable("must be other words than those that were said before", "repeated")
        if text and not words:
            self.flaws["dropped"] += 1
        shown = until_sentence_end(words, longest)
        self.flaws["cut"] += shown != words
        return shown

    def text(self, text: str) -> str:
        """Returns other words that a model puts into the world, unchanged: somebody's doing, a question.

        Empty if there are none, or only `null` or what the instructions say about the field.
        """
        text = self.own_words(text)
        self._refuse_machinery(text)
        self._refuse_other_languages(text)
        return _without_asides(text).strip() or text

    def own_words(self, text: str) -> str:
        """Returns the text; empty if it stands for nothing, or only repeats names of the schema or descriptions of a
        field."""
        said, parts = folded(text), [part for part in _pieces(text) if part]
        words = set(_WORD.findall(said))
        only_names = bool(words) and words <= self.names | _ARTICLES
        described = bool(parts) and all(part in self.descriptions for part in parts)
        copied = only_names or described
        self.flaws["copied"] += copied
        return "" if copied or said.strip(" .…<>") in _NOTHING else text

    def _refuse_machinery(self, text: str) -> None:
        if _MARKUP.search(text):
            raise Unusable("must be plain speech, without JSON or markup", "leak")
        if _MODEL.search(text):
            raise Unusable("must be spoken as the character, never about models or assistants", "leak")
        size = spoken_language(self.language).leak
        said = folded(text)
        if any(said[start : start + size] in self.instructions for start in range(len(said) - size + 1)):
            raise Unusable("must be your own words instead of repeating the instructions", "leak")

    def _refuse_other_languages(self, text: str) -> None:
        spoken = spoken_language(self.language)
        own, others = len(spoken.letters.findall(text)), spoken.letters.sub("", text)
        foreign = len(_FOREIGN.findall(others))
        letters = own + len(_LATIN.findall(others)) + len(_HANGUL.findall(others)) + foreign
        signs = len(_BLANK.sub("", text))
        if letters + len(_FIGURE.findall(text)) < WORDS * signs and not _SILENCE.fullmatch(text):
            raise Unusable("must be words", "leak")
        if foreign > FOREIGN * letters:
            raise Unusable("must be in {wanted}", "language", wanted=spoken.english_name)
        too_few = letters >= FEW_LETTERS and own < spoken.least_own * letters
        if too_few or is_other_language(text, self.language):
            raise Unusable("must be in {wanted}", "language", wanted=spoken.english_name)


def is_other_language(text: str, own: str) -> bool:
    """Tells whether a text has more function words of another language than of its own: French in an English town.

    Names, single words and short phrases pass, and everything does if the own language has no list of such words.
    """
    known, said = function_words(), _WORD.findall(text.casefold())
    if own not in known or len(said) < SEVERAL:
        return False
    ours = sum(word in known[own] for word in said)
    least = max(LEAST_FOREIGN, ours + 1, FOREIGN_WORDS * len(said))
    return any(sum(word in words - known[own] for word in said) >= least for words in known.values())


def folded(text: str) -> str:
    """Returns the form in which leaks are searched for: case folded, with single spaces."""
    return _SPACES.sub(" ", text).casefold()


def shingles(texts: Iterable[str], language: str) -> frozenset[str]:
    """Returns all runs of characters that are long enough to count as a leak."""
    size = spoken_language(language).leak
    parts = [folded(text) for text in texts]
    return frozenset(part[start : start + size] for part in parts for start in range(len(part) - size + 1))


def descriptions(texts: Iterable[str], language: str) -> frozenset[str]:
    """Returns the descriptions of single fields in instructions, piece by piece: both pieces of `doing: what is seen,
    in few words`."""
    least = spoken_language(language).shortest_echo
    pieces = (piece for text in texts for found in _DESCRIBED.findall(text) for piece in _pieces(found))
    return frozenset(piece for piece in pieces if len(piece) >= least and " " in piece)


def _pieces(text: str) -> list[str]:
    return [folded(part).strip(" …'") for part in _PARTS.split(text)]


def unquoted(text: str) -> str:
    """Returns a text without quotation marks around the whole of it."""
    while (
        len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1] and text[-1] not in text[1:-1]
    ):
        text = text[1:-1].strip()
    return text


def _without_asides(text: str) -> str:
    """Returns the text without stage directions in brackets: they are acted, or stand between sentences."""

    def kept(found: re.Match[str]) -> str:
        before, after = text[: found.start()].rstrip(), text[found.end() :].lstrip()
        between = not before or (before[-1] in '.!?…”"' and (not after or after[0].isupper() or after[0] in '“"'))
        return " " if _ACTED.search(found[0]) or (between and not after[:1].isalnum()) else found[0]

    return _SPACES.sub(" ", _ASIDE.sub(kept, text)) if _ASIDE.search(text) else text


def _without_speaker(text: str, names: Iterable[str]) -> str:
    for name in names:
        if name and text.casefold().startswith(name.casefold()):
            rest = text[len(name) :].lstrip()
            if rest[:1] in {":", "："}:
                return rest[1:].strip()
    return text


def first_sentences(text: str, most: int) -> str:
    """Returns the first sentences of a text. An exclamation of a word or two (“Oh!”, “어?”) counts as part of the next
    one."""
    start, count = 0, 0
    for found in _SENTENCE_END.finditer(text):
        if found.end() - start > EXCLAMATION:
            count += 1
        start = found.end()
        if count == most:
            return text[:start].strip()
    return text


def until_sentence_end(text: str, longest: int) -> str:
    """Returns at most `longest` characters, up to the last sentence end that fits; a long first sentence is cut at a
    word."""
    if len(text) <= longest:
        return text
    ends = [found.end() for found in _SENTENCE_END.finditer(text) if found.end() <= longest]
    return text[: ends[-1]].strip() if ends and ends[-1] > longest // 4 else shortened(text, longest)
