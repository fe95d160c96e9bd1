"""The page as Streamlit runs it: what the sidebar changes, what is taken up again, what goes wrong."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import commonplace.parts.duet.sitcom
from commonplace import open_run
from commonplace.parts.duet.sitcom import dialogue
from commonplace.testing.server import ModelServer
from commonplace.text import clean
from e2e.command import command
from sizes import examples

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

APP = Path(commonplace.parts.duet.sitcom.__file__).with_name("app.py")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page as it opens, in a folder of its own."""
    pytest.importorskip("streamlit")
    from streamlit.testing.v1 import AppTest

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["app.py"])
    found = AppTest.from_file(APP, default_timeout=60).run()
    assert not found.exception
    return found


def turns(page: AppTest, number: int) -> AppTest:
    """So many turns more."""
    if number == 1:
        page.button(key="run_one").click().run()
    else:
        page.number_input(key="turns").set_value(number).run()
        page.button(key="run_many").click().run()
    assert not page.exception
    assert not page.error
    return page


def run_of(page: AppTest) -> Path:
    return Path(page.session_state.db_paths["run"])


def test_the_page_and_the_command_line_make_the_same_run(page: AppTest) -> None:
    turns(page, 2)
    turns(page, 2)
    assert not list(Path("runs").glob("*.yaml"))
    command("run", "sitcom", "--ticks", 4, "-o", "line.run", "--view", "none")
    digests = []
    for path in (run_of(page), Path("line.run")):
        with open_run(path) as run:
            digests.append((run.digest(), run.digest(state=True)))
    assert digests[0] == digests[1]
    command("verify", run_of(page))


def test_what_the_sidebar_changes_applies_after_a_reset(page: AppTest) -> None:
    turns(page, 1)
    before = run_of(page)
    page.text_input(key="sitcom.cheolsu.name").set_value("박민준")
    page.text_area(key="sitcom.cheolsu.traits").set_value("느긋하다")
    page.number_input(key="sitcom.k").set_value(3).run()
    assert [one.value for one in page.warning] == ["바꾼 설정은 초기화하면 적용됩니다."]
    assert any("20자" in one.value for one in page.caption)
    page.button(key="reset").click().run()
    assert not page.warning
    assert page.session_state.transcript == []
    assert set(page.session_state.agents) == {"박민준", "이영희"}
    turns(page, 1)
    assert before.exists()
    with open_run(run_of(page)) as run:
        assert "박민준은 어머니에게서 떡볶이" in run.memories("cheolsu")[0].text
        assert "박민준을 몰래" not in str(run.memories("younghee"))
    assert len(page.session_state.transcript[0].retrieved) == 3


def test_english_is_one_click_away(page: AppTest) -> None:
    turns(page, 1)
    page.segmented_control(key="language").set_value("en").run()
    assert page.title[0].value == "A stage for two"
    turns(page, 1)
    assert page.session_state.transcript[0].speaker_name == "Max"
    assert page.expander[0].label == "Why this line? · turn 1"


def test_a_page_that_is_loaded_again_goes_on_also_after_the_process_died(page: AppTest) -> None:
    from streamlit.testing.v1 import AppTest

    page.number_input(key="sitcom.k").set_value(3).run()
    turns(page, 2)
    address, said = {"run": [run_of(page).name]}, [one.utterance for one in page.session_state.transcript]
    for died in (False, True):
        if died:
            dialogue.LIVE.clear()
            page.session_state.session.mirror.close()
        again = AppTest.from_file(APP, default_timeout=60)
        again.query_params.update(address)
        again.run()
        assert not again.exception
        assert [one.utterance for one in again.session_state.transcript] == said
        assert not again.warning, "the settings are those of the dialogue"
    assert again.number_input(key="sitcom.k").value == 3
    turns(again, 1)
    assert again.session_state.turn_idx == 3
    assert not again.warning


def test_a_folder_that_cannot_be_written_to_is_an_error_on_the_page(page: AppTest) -> None:
    Path("runs").write_text("")
    page.button(key="run_one").click().run()
    assert not page.exception
    assert "runs" in page.error[0].value


def test_an_unknown_model_is_an_error_on_the_page_and_the_dialogue_goes_on(page: AppTest) -> None:
    turns(page, 1)
    page.text_input(key="sitcom.mind").set_value("nonsense").run()
    page.button(key="reset").click().run()
    assert "there is no mind" in page.error[0].value
    assert len(page.session_state.transcript) == 1


TEXT = st.text(st.sampled_from("ab 가힣*_`#<>[]()!:$~\\&+-.1|{}^=@\"'") | st.characters(codec="utf-8"), max_size=40)


@examples(80)
@given(TEXT)
def test_text_of_a_model_is_shown_as_it_is(text: str) -> None:
    """No markup in it has an effect: as Markdown it is one paragraph of plain text."""
    from markdown_it import MarkdownIt

    source = shown()(text)
    tokens = MarkdownIt().enable(["table", "strikethrough"]).parse(source)
    inline = [token for token in tokens if token.type == "inline"]
    wanted = clean(text).replace("\n", " ").strip()
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"])
    said = "".join(child.content for token in inline for child in token.children or ())
    assert {child.type for token in inline for child in token.children or ()} <= {"text", "text_special"}
    assert said.replace("\u2060", "").split() == wanted.replace("\u2060", "").split()


@pytest.mark.parametrize("text", ["see http://x.y", "HTTPS://x.y", "www.x.y", "a@x.y"])
def test_an_address_in_a_text_is_not_a_link(text: str) -> None:
    """Streamlit makes one of an address even when its characters are escaped; an invisible one prevents it."""
    assert not re.search(r"https?:|www\.|@x", shown()(text).replace("\\", ""), re.IGNORECASE)


def shown() -> Any:
    """The function of the script, which cannot be imported without being run."""
    namespace: dict[str, Any] = {}
    source = APP.read_text(encoding="utf-8")
    wanted = source[source.index("_LINK") : source.index("# ── the sidebar")]
    exec("import re\nfrom commonplace.text import clean\n" + wanted, namespace)  # noqa: S102
    return namespace["shown"]


def test_a_line_is_shown_while_a_model_writes_it(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.delta_generator import DeltaGenerator

    drawn: list[str] = []
    markdown = DeltaGenerator.markdown

    def noted(place: Any, text: str, **more: Any) -> Any:
        drawn.append(text)
        return markdown(place, text, **more)

    with ModelServer() as server:
        page.text_input(key="sitcom.mind").set_value(server.url).run()
        monkeypatch.setattr(DeltaGenerator, "markdown", noted)
        turns(page, 1)
    record = page.session_state.transcript[0]
    name = next(one.name for one in page.session_state.config.profiles if one.id == record.speaker)
    growing = [text for text in drawn if text.startswith(f"**{name}**") and text.endswith("…")]
    assert len(set(growing)) > 2 and growing[-1] == f"**{name}** {shown()(record.utterance)}…"
    assert not [one.value for one in page.markdown if one.value in growing], "the bubble has taken its place"
