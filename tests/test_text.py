"""What a text may hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text import clean, is_named


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  two   words\n", "two words"),
        ("tab\tand\u00a0blank", "tab and blank"),
        ("bell\u0007 and \u202ebidi", "bell and bidi"),
        ("zero\u200bwidth", "zerowidth"),
        ("a\u200db", "ab"),
        ("\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f469\u200d\U0001f467"),
        ("\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"),
        ("\ud800", "\ufffd"),
        ("e\u0301", "\u00e9"),
        ("\u1100\u1161", "\uac00"),
    ],
)
def test_a_text_is_brought_into_one_form(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text(alphabet=st.characters(), max_size=40))
def test_a_cleaned_text_is_clean(text: str) -> None:
    assert clean(clean(text)) == clean(text)


ODD = "a \n\u0085\u00a0\u00e9\u0301\u1100\u1161\u2019\u200b\u200d\u202e\u2028\u2764\u3000\uac00\ud800\ufeff"


@given(st.text(alphabet=st.sampled_from(ODD), max_size=12) | st.text(alphabet=st.characters(), max_size=40))
def test_most_texts_take_a_short_way_to_the_same_form(text: str) -> None:
    assert clean(text) == clean(text + "\u200b")


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("Jun", "Ask Jun's neighbour.", True),
        ("Jun", "It was in June.", False),
        ("Zoë", "Zoëy came.", False),
        ("준", "준이 왔다.", True),
        ("준", "미라가 왔다.", False),
    ],
)
def test_a_name_stands_by_itself_or_has_particles(name: str, text: str, named: bool) -> None:
    assert is_named(name, text) is named
