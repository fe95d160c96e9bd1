"""What a YAML parser complains about, in words for somebody who does not know the parser."""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

QUOTES = "put the text in quotes"
_WORDING = (
    (r"mapping values are not allowed", f'a ":" stands where none can be: the indentation does not fit, or {QUOTES}'),
    (r"sequence entries are not allowed", 'a "-" stands where none can be: a list begins on a line of its own'),
    (r"character '\\t'", "the line is indented with a tab; YAML wants spaces"),
    (r"found character '(.)' that cannot start", rf'a text cannot begin with "\1": {QUOTES}'),
    (r"expected ',' or '([\]}])'", r'a list or mapping in brackets is not closed: a "," or "\1" is missing'),
    (r"expected <block end>", "the line does not fit the list or mapping it stands in: look at its indentation"),
    (r"could not find expected ':'", 'a ":" is missing after the key, or the text before runs on to this line'),
    (r"unknown escape character '(.)'", r'"\\\1" means nothing in double quotes: use single quotes or "\\\\"'),
    (r"expected '<document start>'", "the line is indented less than the first one: all keys of the top begin alike"),
    (r"expected the node content", "a value is missing, or a bracket closes that was not opened"),
    (r"expected alphabetic or numeric", f"a text cannot begin with “*” or “&”: {QUOTES}"),
)


def in_plain_words(error: YAMLError, text: str) -> tuple[int, str]:
    """(line from 1, what is wrong) of an error the parser raised while reading the text."""
    if isinstance(error, ReaderError):
        return _stray_character(error, text)
    if not isinstance(error, MarkedYAMLError):
        return 1, f"this is not YAML: {error}"
    marked: Any = error  # the library leaves its attributes without types
    problem = str(marked.problem or marked.context or "this is not YAML")
    if "unexpected end of stream" in problem and marked.context_mark:
        return marked.context_mark.line + 1, "the quote opened here is never closed"
    mark = marked.problem_mark or marked.context_mark
    if "<stream end>" in problem and marked.context_mark:
        mark = marked.context_mark  # where the bracket was opened, rather than the last line of the file
    return (mark.line + 1 if mark else 1), _worded(problem)


def _worded(problem: str) -> str:
    for pattern, words in _WORDING:
        found = re.search(pattern, problem)
        if found:
            return found.expand(words)
    return problem


def _stray_character(error: Any, text: str) -> tuple[int, str]:
    """The reader gives the character but no line."""
    character: str = error.character if isinstance(error.character, str) else chr(error.character)
    place = text.find(character)
    line = text.count("\n", 0, max(place, 0)) + 1
    return line, f"the character U+{ord(character):04X} cannot stand in a YAML file"
