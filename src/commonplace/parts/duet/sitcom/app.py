"""The page, as `streamlit run` takes it. Streamlit runs this file from the top at every click."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from commonplace.errors import CommonplaceError, command
from commonplace.languages import phrases
from commonplace.minds.mind import listening
from commonplace.parts.duet.sitcom.casting import SHIPPED, TRAITS, Config, Profile, config_of
from commonplace.parts.duet.sitcom.dialogue import Dialogue, begin, end, export, play, reopened
from commonplace.run.turn_records import ScoredMemory, StoreEvent, TurnRecord
from commonplace.text import clean, shortened

RUNS = Path("runs")
EXPORTS = Path("exports") / "sessions"
# Comments, not strings, explain the constants here: Streamlit shows a string that stands alone on the page.
SHOWN = 30  # latest turns that are shown at first
CONTENT = 120  # characters of a memory in the table
HEIGHT = 700  # pixels of the dialogue, which scrolls to its end
MOST_TURNS = 50
SETTLED = 0.3  # seconds until a browser has scrolled to a new line
AVATARS = (":material/face:", ":material/face_3:")
STYLE = """<style>
[class*="st-key-left-"] [data-testid="stChatMessage"] {
  background: rgba(127, 127, 127, .12); border-radius: 1rem 1rem 1rem 0}
[class*="st-key-right-"] [data-testid="stChatMessage"] {
  background: rgba(60, 130, 246, .14); border-radius: 1rem 1rem 0 1rem}
[data-testid="stChatMessage"] {padding: .6rem .9rem}
.block-container {padding-top: 2.2rem}
[data-testid="stMarkdownContainer"] table {width: 100%}
[data-testid="stMarkdownContainer"] :is(th, td) {
  font-size: .85rem; padding: .25rem .5rem !important; word-break: keep-all; overflow-wrap: break-word}
[data-testid="stMarkdownContainer"] th {white-space: nowrap}
</style>"""
_LINK = re.compile(r"(?i)(https?|www|@)(?=[:.\w])")  # Streamlit makes links of these even when they are escaped
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=@\"'])")


def shown(text: str) -> str:
    """Returns a text from a model or a person as Markdown that shows it and does nothing else."""
    return _MARKUP.sub(r"\\\1", _LINK.sub("\\1\u2060", clean(text).replace("\n", " ")))


# ── the sidebar ─────────────────────────────────────────────────────────────────────────────────────────────────────


def own_scenario() -> str:
    """Returns the scenario file that the page was started with; empty for the shipped ones."""
    return sys.argv[1] if len(sys.argv) > 1 else ""


def sidebar(state: Any) -> Config:
    """Draws the sidebar and returns the settings chosen in it."""
    own, opened = own_scenario(), state.opened
    with st.sidebar:
        if not own:
            language = st.segmented_control(
                "언어 · Language", list(SHIPPED), format_func=lambda one: phrases(one, "sitcom")["itself"],
                default=opened.language if opened else "ko", required=True, key="language",
            )  # fmt: skip
            scenario = SHIPPED[language]
        else:
            scenario = own
        base = opened if opened and opened.scenario == scenario else config_of(scenario)
        say = phrases(base.language, "sitcom")
        buttons(state, say)
        st.subheader(say["characters"])
        one, other = (_profile(profile, scenario, say) for profile in base.profiles)
        st.subheader(say["model"])
        mind = st.text_input(say["mind"], base.mind, help=say["mind_help"], key=f"{scenario}.mind").strip()
        temperature = st.slider(say["temperature"], 0.0, 2.0, base.temperature, 0.05, key=f"{scenario}.temperature")
        seed = st.number_input(say["seed"], 0, 2**31 - 1, base.seed, key=f"{scenario}.seed")
        st.subheader(say["memory"])
        k = st.number_input(say["k"], 1, 50, base.k, key=f"{scenario}.k")
        top_n = st.number_input(say["top_n"], 1, 500, base.top_n, key=f"{scenario}.top_n")
        weights: dict[str, float] = {
            name: st.slider(say[name], 0.0, 1.0, getattr(base, name), 0.05, key=f"{scenario}.{name}")
            for name in ("w_sim", "w_rec", "w_imp")
        }
        period = st.number_input(
            say["reflection_period"], 0, 1000, base.reflection_period, key=f"{scenario}.reflection_period"
        )
    return replace(
        base, profiles=(one, other), mind=mind or base.mind, temperature=temperature, seed=int(seed), k=int(k),
        top_n=int(top_n), reflection_period=int(period), **weights,
    )  # fmt: skip


def _profile(profile: Profile, scenario: str, say: Mapping[str, str]) -> Profile:
    key = f"{scenario}.{profile.id}"
    with st.container(border=True):
        name = st.text_input(say["name"], profile.name, key=f"{key}.name", max_chars=80)
        traits = st.text_area(say["traits"], profile.traits, key=f"{key}.traits", height=68)
        if len(traits.strip()) < TRAITS:
            st.caption(say["traits_short"].format(number=TRAITS))
        goal = st.text_input(say["goal"], profile.goal, key=f"{key}.goal", help=say["goal_help"])
    return Profile(profile.id, name, traits, goal)


def buttons(state: Any, say: Mapping[str, str]) -> None:
    """Draws the buttons. They note what this pass of the script must do next."""
    playing = bool(state.remaining)
    st.button(say["reset"], key="reset", on_click=_ask_reset, width="stretch", disabled=playing)
    st.button(say["run_one"], key="run_one", type="primary", on_click=_ask_turns, args=(1,), width="stretch",
              disabled=playing)  # fmt: skip
    number = int(st.number_input(say["turns"], 2, MOST_TURNS, 10, key="turns"))
    if playing:
        st.button(say["stop"], key="stop", on_click=_ask_turns, args=(0,), width="stretch")
    else:
        st.button(say["run_many"].format(number=number), key="run_many", on_click=_ask_turns, args=(number,),
                  width="stretch")  # fmt: skip
    if st.button(say["export"], key="export", width="stretch", disabled=playing) and state.session is not None:
        path, text = export(state.session, EXPORTS)
        st.success(say["exported"].format(path=shown(str(path))))
        st.download_button(say["download"], text, path.name, "application/json", key="download", width="stretch")


def _ask_reset() -> None:
    st.session_state.wants_reset = True


def _ask_turns(number: int) -> None:
    st.session_state.remaining = st.session_state.asked = number


# ── the dialogue ────────────────────────────────────────────────────────────────────────────────────────────────────


def dialogue(session: Dialogue, say: Mapping[str, str]) -> None:
    """Draws the lines as bubbles, the first character's on the left, each with its reasons below."""
    transcript = session.transcript
    first = 0
    if len(transcript) > SHOWN and not st.toggle(say["earlier"].format(number=len(transcript) - SHOWN), key="all"):
        first = len(transcript) - SHOWN
    for record in transcript[first:]:
        bubble(session, record, say)


def bubble(session: Dialogue, record: TurnRecord, say: Mapping[str, str]) -> None:
    left = record.speaker == session.config.profiles[0].id
    wide, narrow = st.columns([6, 1]) if left else reversed(st.columns([1, 6]))
    del narrow
    with wide, st.container(key=f"{'left' if left else 'right'}-{record.turn}"):
        with st.chat_message(record.speaker_name, avatar=AVATARS[not left]):
            mood = f" · {shown(record.mood)}" if record.mood else ""
            thought = f" · *{say['reflected']}*" if record.reflection else ""
            st.caption(f"**{shown(record.speaker_name)}** · {record.timestamps['at'][11:16]}{mood}{thought}")
            st.markdown(shown(record.utterance) or f"*{say['silence']}*")
        for problem in record.problems:
            text = say["problem" if problem.used else "retried"].format(task=problem.task, kind=problem.kind)
            (st.error if problem.used else st.warning)(f"{shown(text)} {shown(problem.what)}")
        with st.expander(say["why"].format(turn=record.turn), icon=":material/psychology:"):
            reasons(session, record, say)


def reasons(session: Dialogue, record: TurnRecord, say: Mapping[str, str]) -> None:
    """Draws everything that explains a line."""
    st.caption(f"**{say['context']}** {shown(record.context_in)}")
    st.markdown(f"**{say['retrieved']}**")
    _table([_row(one, say) for one in record.retrieved])
    agreement = session.agreements.get(record.turn)
    if agreement:
        st.caption(say["chroma"].format(wanted=agreement.wanted, shared=agreement.shared))
    none = say["no_reflection"].format(period=session.config.reflection_period)
    st.markdown(f"**{say['reflection']}** {shown(record.reflection) if record.reflection else f'*{none}*'}")
    st.markdown(f"**{say['plan']}** {shown(record.plan)}")
    st.markdown(f"**{say['store']}**")
    _table([_decision(one, say) for one in record.store_events])
    tokens = record.tokens
    cost = say["cost_line"].format(seconds=record.timestamps["seconds"], **tokens)
    st.caption(f"**{say['cost']}** {cost if tokens['calls'] else say['offline_cost']}")
    st.caption(say["more"])
    st.code(command("why", session.path, record.turn_id), language=None)


def _table(rows: list[dict[str, str]]) -> None:
    """Draws a table in Markdown: Streamlit's own take ten milliseconds each, for every turn, on every click."""
    if rows:
        lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
        st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _row(one: ScoredMemory, say: Mapping[str, str]) -> dict[str, str]:
    memory = one.memory
    scores = {
        "sim": one.similarity, "rec": one.recency_score, "imp": one.importance_score, "final": one.final_score,
    }  # fmt: skip
    return {
        say["content"]: shown(shortened(clean(memory.get("text", "")), CONTENT)),
        say["type"]: _kind(memory.get("kind", ""), say),
        say["importance"]: f"{memory.get('importance', 0):g}",
        say["age"]: f"{one.age_hours:.2f}",
        **{name: f"{score:.3f}" for name, score in scores.items()},
    }


def _decision(one: StoreEvent, say: Mapping[str, str]) -> dict[str, str]:
    return {
        say["decision"]: f"✓\u00a0{say['stored']}" if one.stored else f"×\u00a0{say['dropped']}",
        say["type"]: _kind(one.memory_type, say),
        say["importance"]: f"{one.importance:g}",
        say["content"]: shown(shortened(clean(one.content), CONTENT)),
        say["reason"]: shown(one.reason),
    }


def _kind(kind: str, say: Mapping[str, str]) -> str:
    return say.get(f"{kind}_kind") or say.get(kind, kind)


# ── one run of the script ───────────────────────────────────────────────────────────────────────────────────────────


def take_up(state: Any) -> None:
    """Opens the dialogue that the page's address names, so that a page that is loaded again goes on with it."""
    state.session, state.opened = None, None
    path = RUNS / Path(st.query_params.get("run", "")).name
    if path.suffix == ".run" and path.is_file():
        try:
            state.session = reopened(path, own_scenario())
        except CommonplaceError as error:
            st.error(f"{shown(error.what)} {shown(error.hint)}")
        else:
            state.opened = state.session.config
            publish(state, state.opened)


def renew(state: Any, config: Config) -> None:
    """Ends the current dialogue and, if one is wanted, begins another with the sidebar's settings."""
    old: Dialogue | None = state.get("session")
    wanted = state.pop("wants_reset", False)
    moved_on = old is not None and old.config.scenario != config.scenario
    if wanted or moved_on or (old is None and state.remaining):
        state.session = begin(config, RUNS) if wanted or old is None else None
        if old is not None:
            end(old)
        publish(state, config)


def publish(state: Any, config: Config) -> None:
    """Copies the dialogue into the keys of the page's state."""
    session: Dialogue | None = state.session
    state.agents = session.agents if session else {}
    state.transcript = session.transcript if session else []
    state.turn_idx = session.turn_idx if session else 0
    state.config = session.config if session else config
    state.db_paths = {"run": str(session.path), "chroma": str(session.chroma)} if session else {}
    address = {"run": session.path.name} if session else {}
    if st.query_params.to_dict() != address:
        st.query_params.from_dict(address)


def main() -> None:
    """Draws the page."""
    st.set_page_config(page_title="Commonplace · sitcom", page_icon="🎭", layout="wide")
    st.html(STYLE)
    state = st.session_state
    for key in ("remaining", "asked"):
        state.setdefault(key, 0)
    if "session" not in state:
        take_up(state)
    try:
        config = sidebar(state)
        renew(state, config)
    except (CommonplaceError, OSError) as error:  # a folder that cannot be written to
        st.error(shown(f"{error.what} {error.hint}" if isinstance(error, CommonplaceError) else str(error)))
        state.remaining = 0
        if state.session is None:
            return
        config = state.session.config
    say, session = phrases(config.language, "sitcom"), state.session
    st.title(say["title"])
    if session is None:
        st.info(say["empty"])
        return
    st.caption(f"{shown(session.setting)} · {say['run']}: `{session.path}`")
    if config != session.config:
        st.warning(say["changed"])
    for notice in session.notices:
        st.warning(f"{shown(notice)} {say['no_chroma']}")
    has_played = state.pop("has_played", False)
    with st.container(height=HEIGHT, border=False, autoscroll=bool(state.remaining or has_played)):
        dialogue(session, say)
    if state.get("error") and not has_played:
        st.error(shown(state.pop("error")))
    if state.remaining:
        take_turn(state, session, say)
    if has_played:
        time.sleep(SETTLED)
        st.rerun()  # without scrolling, so that a reason opened at the end is read from its beginning


def take_turn(state: Any, session: Dialogue, say: Mapping[str, str]) -> None:
    """Takes one of the requested turns. The page is drawn again after each, so that it can be stopped."""
    done = state.asked - state.remaining
    st.progress(done / state.asked, say["playing"].format(done=done + 1, all=state.asked))
    try:
        place = st.empty()
        names = {profile.id: shown(profile.name) for profile in session.config.profiles}

        def grow(who: str, words: str) -> None:
            place.markdown(f"**{names[who]}** {shown(words)}…") if words else place.empty()

        with _telling(place, say), listening(grow):
            record = play(session)
        place.empty()
        if any(problem.kind == "outage" for problem in record.problems):
            state.remaining = 0  # the next ones would wait for it as long
    except CommonplaceError as error:
        state.remaining = 0
        state.error = f"{say['failed']} {error.what} {error.hint}"
    state.remaining = max(0, state.remaining - 1)
    state.has_played = not state.remaining
    publish(state, session.config)
    st.rerun()


@contextmanager
def _telling(place: Any, say: Mapping[str, str]) -> Generator[None]:
    """Shows what the model's client says about a server that keeps this page waiting."""
    handler, log, me = logging.Handler(), logging.getLogger("commonplace.parts.model_servers"), threading.get_ident()
    handler.addFilter(lambda record: record.thread == me)  # other pages have threads of their own
    handler.emit = lambda record: place.info(f"{say['waiting']} {shown(record.getMessage())}")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _logging() -> None:
    """Logs INFO and above to standard error; COMMONPLACE_LOG=DEBUG adds the scores of both stages."""
    log = logging.getLogger("commonplace.parts.duet.sitcom")
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(os.environ.get("COMMONPLACE_LOG", "INFO").upper())
        log.propagate = False


_logging()
main()
