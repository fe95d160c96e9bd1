"""Minds by name on the command line: who answers, what it may spend, and what happens when it stays away."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from commonplace.api import open_run
from commonplace.cli import main
from commonplace.engine.driver import JOB_ORDINALS
from commonplace.minds.mind import estimated_tokens
from commonplace.parts.live.source import RecordedSource
from commonplace.parts.live.talk_thread import Talks
from commonplace.parts.model_servers.client import Endpoint
from commonplace.parts.model_servers.prices import VARIABLE
from commonplace.parts.terminal.header import mind_name
from commonplace.parts.web.card import run_card
from commonplace.testing.server import Faults, ModelServer
from e2e.command import ends
from e2e.lived import PLAZA_TICKS

TICKS = 24


@pytest.fixture
def said(capsys, monkeypatch, tmp_path):
    """What a command prints, on both outputs; run in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: object, status: int = 0) -> tuple[str, str]:
        assert main([*map(str, arguments)]) == status
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return printed.out, printed.err

    return ran


@pytest.mark.parametrize(
    ("name", "near"), [("olama:qwen3:8b", "did you mean ollama:qwen3:8b? "), ("qwen3", ""), ("nowhere:qwen3", "")]
)
def test_a_mind_that_does_not_exist_is_answered_with_those_there_are(name, near, said):
    _, told = said("run", "plaza", "--mind", name, status=2)
    assert f"there is no mind '{name}'\n  {near}a mind is " in told


@pytest.fixture(scope="module")
def server():
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def served(server, tmp_path_factory):
    """The plaza with a model server. Not to be written to."""
    path = tmp_path_factory.mktemp("served") / "served.run"
    assert main(["run", "plaza", "--ticks", str(TICKS), "--mind", server.url, "-o", str(path), "--view", "none"]) == 0
    return path


def requests(run) -> str:
    with open_run(run) as reading:
        return reading.manifest.settings["requests"]


def test_a_run_that_lived_by_fallbacks_says_so(said, server, monkeypatch):
    waits_for_nothing(monkeypatch)
    _, err = said("run", "plaza", "--ticks", 12, "--mind", server.url, "-o", "good.run", "--view", "none")
    assert "answers were replaced" not in err
    faults = Faults(1.0, ("empty_content",))
    with ModelServer(faults=faults) as mute:
        start = ("run", "plaza", "--ticks", 12, "--mind", mute.url, "-o", "mute.run", "--view", "none")
        said(*start, status=3)  # a server that answers nothing at all pauses the run
        _, err = said(*start, "--force", "--on-outage", "fallback")
    assert f"{mute.url} is too small for " in err
    assert "commonplace usage mute.run" in err


def test_words_that_were_left_out_are_counted_told_and_replayed(said):
    with ModelServer(faults=Faults(0.5, ("field_names", "trailing_commas"))) as server:
        start = ("run", "plaza", "--ticks", 40, "--fidelity", "every_tick", "--view", "none")
        _, err = said(*start, "--mind", server.url, "-o", "junk.run")
    assert "lost their words or action" in err
    assert "commonplace usage junk.run" in err
    *rows, total = [json.loads(line) for line in said("usage", "junk.run", "--json")[0].splitlines()]
    assert total["flaws"]["copied"] > 0 < total["flaws"]["repaired"]
    assert total["lost"] == sum(row["lost"] for row in rows) > 0
    out, _ = said("usage", "junk.run")
    assert "used, but not as they came: copied " in out
    assert err.splitlines()[0] in out, "one verdict, wherever it is shown"
    said("verify", "junk.run")
    said(*start, "--mind", "journal:junk.run", "-o", "again.run")
    again = json.loads(said("usage", "again.run", "--json")[0].splitlines()[-1])
    assert (again["flaws"], again["lost"]) == (total["flaws"], total["lost"])


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["nobody", "Offline", "ollama", "ftp://x/v1", "journal"])
def test_a_name_that_is_none_says_what_is_accepted(said, name, tmp_path):
    _, err = said("run", "plaza", "--mind", name, "-o", "x.run", status=2)
    assert repr(name) in err
    for accepted in ("offline", "journal:RUN", "ollama:qwen3:8b", "openai:", "http://127.0.0.1"):
        assert accepted in err
    assert not list(tmp_path.iterdir())


def test_a_missing_key_is_named_before_anything_is_made(said, monkeypatch, tmp_path):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    _, err = said("run", "plaza", "--mind", "openai:gpt-5-mini", "-o", "x.run", status=2)
    assert "export OPENAI_API_KEY=" in err
    assert not list(tmp_path.iterdir())


def test_another_run_answers_for_nothing(said, plaza, tmp_path):
    said("run", "plaza", "--ticks", PLAZA_TICKS, "--mind", f"journal:{plaza}", "-o", "again.run", "--view", "none")
    assert ends(tmp_path / "again.run") == ends(plaza)
    said("verify", "again.run")


def test_a_journal_that_ends_says_where(said, plaza, tmp_path):
    said("run", "plaza", "--ticks", PLAZA_TICKS, "--mind", f"journal:{plaza}", "-o", "again.run", "--view", "none")
    _, err = said("resume", "again.run", "--ticks", 20, "--view", "none", status=1)
    assert f"tick {PLAZA_TICKS}" in err or "tick " in err
    assert "no answer for" in err
    assert ends(tmp_path / "again.run").tick >= PLAZA_TICKS


def test_a_fork_can_have_another_mind(said, plaza, tmp_path):
    said("fork", plaza, "--at", 20, "-o", "fork.run", "--mind", f"journal:{plaza}")
    said("resume", "fork.run", "--ticks", 20, "--view", "none")
    assert ends(tmp_path / "fork.run") == ends(plaza, 40)
    said("verify", "fork.run")
    said("fork", plaza, "--at", 20, "-o", "other.run", "--mind", "nobody", status=2)
    assert not (tmp_path / "other.run").exists()


# ── a model server ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_with_a_server_can_be_verified_without_it(said, served):
    out, _ = said("verify", served)
    assert out.startswith(f"tick {TICKS}  digest ")
    assert requests(served) == "merged"


def test_a_run_of_its_answers_asks_as_it_did(said, served, tmp_path):
    said("run", "plaza", "--ticks", TICKS, "--mind", f"journal:{served}", "-o", "again.run", "--view", "none")
    assert ends(tmp_path / "again.run") == ends(served)
    assert requests(tmp_path / "again.run") == "merged"


def test_nothing_but_data_goes_to_standard_output(said, server, tmp_path):
    out, err = said("run", "plaza", "--ticks", 5, "--mind", server.url, "-o", "x.run", "--view", "json")
    assert err == ""
    assert [json.loads(line)["tick"] for line in out.splitlines()]


def test_a_budget_pauses_and_says_how_to_go_on(said, server, served, tmp_path):
    start = ("run", "plaza", "--ticks", TICKS, "--mind", server.url, "-o", "x.run", "--view", "none")
    _, err = said(*start, "--max-calls", 4, status=3)
    assert "4 calls" in err
    assert "commonplace resume x.run --max-calls" in err
    assert ends(tmp_path / "x.run").tick < TICKS
    said("resume", "x.run", "--view", "none", "--max-tokens", 100, status=3)
    said("resume", "x.run", "--view", "none")
    assert ends(tmp_path / "x.run") == ends(served)


def test_money_can_be_limited_where_the_price_is_known(said, server, monkeypatch, tmp_path):
    start = ("run", "plaza", "--ticks", TICKS, "--mind", server.url, "--view", "none")
    prices = tmp_path / "prices.yaml"
    prices.write_text("127.0.0.1: {prompt: 1000, cached: 1000, answer: 1000}", encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(prices))
    _, err = said(*start, "-o", "x.run", "--max-cost", "1.5", status=3)
    assert "resume x.run --max-cost" in err
    out, _ = said("usage", "x.run", "--json")
    total = json.loads(out.splitlines()[-1])
    assert total["cost"] == pytest.approx(1e-3 * (total["prompt_tokens"] + total["answer_tokens"]))


def test_money_cannot_be_limited_where_the_price_is_not_known(said, tmp_path):
    _, err = said("run", "plaza", "--mind", "https://api.example.com/v1#big", "--max-cost", 1, status=2)
    assert "api.example.com:big: {prompt:" in err
    assert VARIABLE in err
    assert not list(tmp_path.iterdir())


def test_minds_of_characters_count_where_money_is_limited(said, tmp_path):
    text = (files("commonplace") / "scenarios" / "plaza.yaml").read_text(encoding="utf-8")
    own = text.replace("  - id: ines\n    name", '  - id: ines\n    mind: "https://api.example.com/v1#own"\n    name')
    (tmp_path / "own.yaml").write_text(own, encoding="utf-8")
    start = ("run", "own.yaml", "--ticks", 0, "--view", "none", "--trust", "--max-cost", 1)
    _, err = said(*start, status=2)
    assert "api.example.com:own: {prompt:" in err
    said(*start, "--mind", "offline")  # named for all: theirs are not asked


def test_a_server_that_stays_away_pauses_the_run(said, served, tmp_path, monkeypatch):
    waits_for_nothing(monkeypatch)
    with ModelServer() as server:
        said("run", "plaza", "--ticks", 4, "--mind", server.url, "-o", "x.run", "--view", "none")
    _, err = said("resume", "x.run", "--ticks", TICKS - 4, "--view", "none", status=3)
    assert server.url in err
    assert "commonplace resume x.run" in err
    assert ends(tmp_path / "x.run").tick < TICKS
    said("resume", "x.run", "--ticks", 4, "--view", "none", "--on-outage", "fallback")
    rows = [json.loads(line) for line in said("usage", "x.run", "--json")[0].splitlines()]
    assert rows[-1]["fallbacks"]
    assert rows[-1]["faults"]["outage"]


def waits_for_nothing(monkeypatch) -> None:
    """A server that is away is tried again without waiting."""
    monkeypatch.setattr("commonplace.parts.model_servers.client._seconds_to_wait", lambda *_: 0.0)


# ── usage ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_usage_tells_tokens_and_what_a_server_had_read(said, served):
    rows = [json.loads(line) for line in said("usage", served, "--json")[0].splitlines()]
    *lines, total = rows
    assert total["prompt_tokens"] == sum(row["prompt_tokens"] for row in lines) > total["cached_tokens"] > 0
    assert total["calls"] >= total["asked"] > 0
    assert total["cost"] == 0
    text, err = said("usage", served)
    head, *body = text.splitlines()
    assert head.startswith("character  task")
    assert head.endswith("cost")
    assert f"{total['prompt_tokens']:,}" in next(line for line in body if line.startswith("total"))
    assert err == ""


def test_a_cost_that_is_not_known_is_null_and_a_dash(said, plaza, tmp_path):
    said("fork", plaza, "--at", 5, "-o", "x.run", "--mind", "https://api.example.com/v1#big")
    rows = [json.loads(line) for line in said("usage", "x.run", "--json")[0].splitlines()]
    assert {row["cost"] for row in rows} == {None}
    text, err = said("usage", "x.run")
    assert text.splitlines()[-1].endswith("–")
    assert VARIABLE in err


# ── estimate, doctor ────────────────────────────────────────────────────────────────────────────────────────────────


def estimated(said, *arguments: object) -> list[dict]:
    return [json.loads(line) for line in said("estimate", "plaza", *arguments, "--json")[0].splitlines()]


def test_an_estimate_is_what_a_server_would_be_asked(said, served, tmp_path):
    """The test server answers as the offline mind does, so the estimate can be held against it."""
    *rows, total = estimated(said, "--mind", "http://127.0.0.1:9/v1", "--ticks", TICKS)
    used = [json.loads(line) for line in said("usage", served, "--json")[0].splitlines()]
    asked: dict[str, int] = {}
    for row in used[:-1]:
        asked[row["task"]] = asked.get(row["task"], 0) + row["asked"] - row["fallbacks"]
    assert {row["task"] for row in rows} == set(asked)
    assert total["calls"] == sum(row["calls"] for row in rows)
    assert total["calls"] == pytest.approx(used[-1]["asked"], rel=0.25)
    assert total["prompt"] == pytest.approx(used[-1]["prompt_tokens"], rel=0.5)
    assert not list(tmp_path.glob("*.run"))


def test_tokens_of_prompts_are_all_that_is_sent_by_every_count(said, monkeypatch):
    """Counted as a proxy between client and server would count: whatever a provider reads, the schemas too."""
    sent, send = [], Endpoint.send

    async def counting(self, method, path, body, live=None, **more):
        if path == "/chat/completions":
            form = json.dumps(body.get("response_format", ""), separators=(",", ":"))
            sent.append(" ".join((form, *(message["content"] for message in body["messages"]))))
        return await send(self, method, path, body, live, **more)

    monkeypatch.setattr(Endpoint, "send", counting)
    with ModelServer() as server:
        start = ("latticeville", "--mind", server.url, "--ticks", TICKS)
        said("run", *start, "-o", "x.run", "--view", "none")
        estimate = [json.loads(line) for line in said("estimate", *start, "--json")[0].splitlines()][-1]
    used = [json.loads(line) for line in said("usage", "x.run", "--json")[0].splitlines()][-1]
    proxy = sum(map(estimated_tokens, sent))
    assert sum(entry.usage.prompt for entry in server.log.entries) == pytest.approx(proxy, rel=0.03)
    assert used["prompt_tokens"] == pytest.approx(proxy, rel=0.03)
    assert estimate["prompt"] / estimate["calls"] == pytest.approx(proxy / len(sent), rel=0.05)
    assert sum(map(len, sent)) / 4 == pytest.approx(proxy, rel=0.15), "the rule of thumb"


def test_an_estimate_for_a_mind_there_is_not_is_refused(said):
    _, err = said("estimate", "plaza", "--mind", "nobody", status=2)
    assert "'nobody'" in err
    assert "ollama:qwen3:8b" in err


def test_an_estimate_knows_price_and_shape_and_asks_nobody(said, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    *_, paid = estimated(said, "--mind", "openai:gpt-5-mini", "--ticks", TICKS)
    *_, merged = estimated(said, "--mind", "ollama:qwen3:8b", "--ticks", TICKS)
    *_, single = estimated(said, "--mind", "offline", "--ticks", TICKS)
    assert paid["cost"] > 0 == merged["cost"] == single["cost"]
    assert paid["calls"] == merged["calls"] < single["calls"]
    assert paid["cached"] <= merged["cached"] > merged["prompt"] / 4
    *_, unknown = estimated(said, "--mind", "https://api.example.com/v1#big", "--ticks", 2)
    assert unknown["cost"] is None


def test_an_estimate_says_that_it_is_one(said):
    out, err = said("estimate", "plaza", "--ticks", 12, "--mind", "openai:gpt-5-mini")
    assert out.splitlines()[0].split() == ["task", "calls", "prompt", "cached", "answer", "cost"]
    assert "estimate" in out
    assert "a character's day" in out
    assert err == ""
    assert "asks no server" in said("estimate", "plaza", "--ticks", 12)[0]


def test_doctor_looks_at_the_machine(said):
    out, err = said("doctor")
    assert "Python" in out
    assert "SQLite" in out
    assert err == ""
    assert "costs nothing" in said("doctor", "--mind", "offline")[0]


def test_doctor_tells_what_a_server_can_do_and_never_the_key(said, server, monkeypatch):
    monkeypatch.setenv("COMMONPLACE_API_KEY", "sk-secret-0123456789")
    out, _ = said("doctor", "--mind", server.url)
    for told in ("model offline", "JSON Schema", "seed yes", "embeddings: 384", "tokens", "COMMONPLACE_API_KEY"):
        assert told in out
    assert "sk-secret" not in out


def findings(said, server, status: int = 0) -> list[str]:
    """What the doctor says of a server."""
    out, _ = said("doctor", "--mind", server.url, "--json", status=status)
    return [json.loads(line)["what"] for line in out.splitlines()]


def test_doctor_asks_ten_real_questions_and_says_what_the_model_is_fit_for(said, server):
    found = findings(said, server)
    asked = [re.fullmatch(r"(\w+) \((en|ko)\): (\w+).*; [\d.]+ s, ([\d,]+) \+ ([\d,]+) tokens", one) for one in found]
    asked = [one for one in asked if one]
    assert len(asked) == 10
    assert len({one[1] for one in asked if one[2] == "en"}) == 5, "a question of each of five tasks"
    assert all(one[3] in {"usable", "mended"} for one in asked), found
    assert sum(int(one[4].replace(",", "")) for one in asked) < 20_000
    [fit] = [one for one in found if one.startswith("fit for ")]
    assert "converse" in fit
    assert "not fit" not in fit


def test_doctor_says_what_a_model_is_not_fit_for(said):
    with ModelServer(faults=Faults(0.6, ("wrong_language", "field_names"))) as server:
        found = findings(said, server)
    useless = [one.partition(":")[0] for one in found if ": useless (" in one]
    assert useless
    [fit] = [one for one in found if one.startswith("fit for ")]
    told = fit.partition("not fit for ")[2]
    assert all(one in told or one.partition(" ")[0] in told for one in useless)


def test_a_model_that_is_fit_for_nothing_is_broken(said):
    with ModelServer(faults=Faults(1.0, ("wrong_schema",))) as server:
        found = findings(said, server, status=1)
    assert any(one.startswith("not fit for act, ") for one in found)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nobody", "a mind is"),
        ("openai:gpt-5-mini", "export OPENAI_API_KEY="),
        ("http://127.0.0.1:9/v1", "start the server"),
        ("http://user:sk-secret@127.0.0.1/v1", "environment"),
        ("journal:none.run", "commonplace run"),
    ],
)
def test_doctor_says_what_to_do_about_a_mind_that_is_not_there(said, monkeypatch, name, told):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    out, _ = said("doctor", "--mind", name, status=1)
    assert "BROKEN" in out
    assert told in out
    assert "sk-secret" not in out


def test_doctor_finds_a_list_of_prices_that_is_wrong(said, monkeypatch, tmp_path):
    (tmp_path / "mine.yaml").write_text("openai:x: cheap", encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine.yaml"))
    out, _ = said("doctor", status=1)
    assert "mine.yaml:1" in out


# ── a scenario's own prompts ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def worded(said, tmp_path):
    """A scenario whose rules are its own, and long."""
    said("new", "my-town.yaml")
    path = tmp_path / "my-town.yaml"
    path.write_text(f"prompts: mine\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "rules.txt").write_text("Mind the lanterns. " * 200, encoding="utf-8")
    return path


def test_a_scenarios_own_prompts_are_asked_and_kept_in_the_run(said, worded, server, tmp_path):
    said("run", worded, "--trust", "--ticks", 3, "--mind", server.url, "-o", "x.run", "--view", "none")
    (tmp_path / "mine" / "rules.txt").unlink()
    said("resume", "x.run", "--ticks", 40, "--view", "none")
    with open_run(tmp_path / "x.run") as reading:
        assert reading.manifest.settings["prompts"]["rules.txt"].startswith("Mind the lanterns.")
        asked = [reading.model_call(row) for row in reading.answers(10) if not row.usage.get("needless")]
        assert asked
        assert all("Mind the lanterns." in one.prompt for one in asked)


def test_an_estimate_is_made_with_them(said, worded, tmp_path):
    def prompt() -> int:
        arguments = ("--trust", "--mind", "ollama:x", "--ticks", 40, "--json")
        return json.loads(said("estimate", worded, *arguments)[0].splitlines()[-1])["prompt"]

    long = prompt()
    (tmp_path / "mine" / "rules.txt").unlink()
    assert long > prompt() + 1000


def test_a_folder_of_prompts_that_is_not_there_is_named(said, worded, tmp_path):
    (tmp_path / "mine" / "rules.txt").unlink()
    (tmp_path / "mine").rmdir()
    _, err = said("run", worded, "-o", "x.run", status=2)
    assert "mine" in err


# ── minds per task ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def shared(server, tmp_path_factory):
    """(run, tasks that the talker was asked): the plaza with a mind of its own for talk and the rules for ratings."""
    path = tmp_path_factory.mktemp("shared") / "shared.run"
    with ModelServer() as talker:
        minds = ("--mind", server.url, "--mind", f"talk={talker.url}", "--mind", "rate=offline")
        start = ("run", "plaza", "--ticks", str(TICKS), *minds, "-o", str(path), "--view", "none")
        assert main([*start]) == 0
        return path, {entry.task for entry in talker.log.asked}, talker.url


def test_a_task_is_asked_of_its_mind(said, server, shared):
    run, told, talker = shared
    assert told == {"converse"}
    with open_run(run) as reading:
        rows, settings = reading.usage(), reading.manifest.settings
        said_with = [row for row in reading.answers() if row.task == "react" and b"utterance" in row.body]
    minds = {row["task"]: row["mind"] for row in rows}
    assert (minds["converse"], minds["rate"]) == (talker, "offline")
    assert minds["react"] == minds["plan_day"] == server.url
    assert settings["apart"] == ["rate", "converse"] and not said_with, "a reaction is asked for no words"
    said("verify", run)
    out, _ = said("usage", run, "--json")
    assert {row["mind"] for row in map(json.loads, out.splitlines())} == {"", server.url, talker, "offline"}


def test_a_run_goes_on_with_the_minds_it_was_made_with(said, server, shared, tmp_path):
    run, _, talker = shared
    _, err = said("resume", run, "--mind", f"talk={server.url}", status=2)
    assert f"made with the mind {talker!r} for talk, not {server.url!r}" in err
    _, err = said("resume", run, "--mind", "talk=offline", "--mind", "talk=offline", status=2)
    assert "--mind is given twice for talk" in err
    _, err = said("resume", run, "--mind", "tlak=offline", status=2)
    assert "did you mean talk?" in err
    fork = tmp_path / "fork.run"
    said("fork", run, "--at", 6, "-o", fork, "--mind", "talk=offline")
    said("resume", fork, "--ticks", 2, "--view", "none", "--mind", server.url, "--mind", "talk=offline")
    said("verify", fork)


def test_all_minds_of_a_run_are_shown(said, server, shared, served):
    run, _, talker = shared
    out, _ = said("diff", served, run)
    assert f"mind {server.url}, up to" in out and f"minds {server.url}, offline, {talker}, up to" in out
    assert "different settings: minds." in out
    with open_run(run) as reading:
        assert run_card("shared", reading).mind == RecordedSource(reading).mind == f"{server.url} +2"
        with Talks(reading) as talks:
            assert talks("ines", 4).mind == talker
    assert mind_name("offline +2", "en") == "offline mind +2"


def test_each_mind_has_its_price(said, server, shared, monkeypatch, tmp_path):
    run, *_ = shared
    prices = tmp_path / "prices.yaml"
    prices.write_text("127.0.0.1: {prompt: 1, cached: 0.1, answer: 2}\n", encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(prices))
    rows = [json.loads(line) for line in said("usage", run, "--json")[0].splitlines()]
    assert all((row["cost"] == 0) == (row["mind"] == "offline") for row in rows[:-1])
    assert rows[-1]["cost"] == pytest.approx(sum(row["cost"] for row in rows[:-1]))


MINDS = """
minds:
  talk: {{mind: {url}, temperature: 0.9, headers: {{api-key: $TOWN_KEY}}}}
  rate: offline
"""


def test_what_a_file_names_for_a_task_is_asked_about_first(said, server, monkeypatch, tmp_path):
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TOWN_KEY", "a-very-secret-key")
    assert main(["new", "town.yaml", "--size", "3"]) == 0
    file = tmp_path / "town.yaml"
    file.write_text(file.read_text(encoding="utf-8") + MINDS.format(url=server.url), encoding="utf-8")
    start = ("run", file, "--ticks", 2, "--view", "none", "-o", "town.run")
    _, err = said(*start, status=2)
    assert f"mind {server.url} – sends what the characters see and remember and your key, TOWN_KEY," in err
    said(*start, "--mind", "offline")  # whoever names the mind for all uses nothing of the file's
    _, err = said(*start, "--force", "--mind", "rate=offline", status=2)
    assert "TOWN_KEY" in err
    said(*start, "--force", "--trust")
    said("resume", "town.run", "--ticks", 1, "--view", "none")  # remembered
    assert b"a-very-secret-key" not in (tmp_path / "town.run").read_bytes()
    file.write_text(file.read_text(encoding="utf-8").replace("$TOWN_KEY", "sk-1234567890"), encoding="utf-8")
    _, err = said("check", file, status=2)
    assert "the header api-key holds a key" in err


def test_answers_are_kept_across_runs(said, tmp_path):
    with ModelServer() as server:
        start = ("run", "plaza", "--ticks", TICKS, "--mind", server.url, "--cache", "answers.cache", "--view", "none")
        said(*start, "-o", "one.run")
        asked = len(server.log.asked)
        said(*start, "-o", "two.run")
        assert len(server.log.asked) == asked, "the second run asks for nothing that the first was told"
    for which in ((), ("--state",)):
        assert said("digest", "one.run", *which) == said("digest", "two.run", *which)
    *_, total = (json.loads(line) for line in said("usage", "two.run", "--json")[0].splitlines())
    assert total["reused"] == total["asked"], "only what the server can do is asked for again"
    assert total["prompt_tokens"] < 1000
    said("verify", "two.run")
    with open_run("two.run") as run:
        first = next(row for row in run.answers() if row.ordinal < JOB_ORDINALS and row.usage.get("reused"))
        event = f"t{first.tick}.{first.agent}.0"
        assert all(one["reused"] for one in run.why(event)["asked"])
    assert "an answer that an earlier run got" in said("why", "two.run", event)[0]
