"""What whoever operates the server may ask: is it alive, is it ready, and what does it count."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from commonplace.parts.web.app import make_app
from commonplace.parts.web.guard import Gate
from commonplace.parts.web.library import Library
from e2e.command import command, started
from parts.web.serving import client, live, until


def test_a_server_that_lists_its_runs_is_ready(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "not there yet"):
        with client(make_app(Library(folder))) as http:
            assert http.get("/healthz").text == "ok\n"
            assert http.head("/healthz").status_code == http.head("/readyz").status_code == 200
            assert http.get("/readyz").json() == {"ready": True, "reasons": []}


def test_a_folder_that_cannot_be_read_is_a_reason(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.write_text("no folder")
    with client(make_app(Library(folder))) as http:
        answer = http.get("/readyz")
        assert answer.status_code == 503
        assert answer.json() == {"ready": False, "reasons": ["the folder of runs cannot be read (Not a directory)"]}
        assert http.get("/healthz").status_code == 200


def test_a_process_that_was_killed_is_a_reason_until_the_run_goes_on(tmp_path: Path) -> None:
    app = make_app(Library(tmp_path))
    with client(app) as http:
        assert http.post("/api/runs", json={"scenario": "plaza", "ticks": 40}).status_code == 201
        process = app.state.sessions.get("plaza-7")._worker._process
        os.kill(process.pid, signal.SIGKILL)
        until(lambda: http.get("/readyz").status_code == 503)
        reasons = http.get("/readyz").json()["reasons"]
        assert reasons == ["the process that made the ticks of plaza-7 has died"]
        assert "plaza" not in http.get("/healthz").text
        assert http.post("/api/runs/plaza-7/control", json={"action": "play"}).status_code == 200
        until(lambda: http.get("/readyz").status_code == 200)
        http.post("/api/runs/plaza-7/control", json={"action": "speed", "rate": 0})
        with live(http, "plaza-7") as message:
            while message("status", "delta", "snapshot").get("live", True):
                pass
        until(lambda: http.get("/readyz").status_code == 200)  # one that has reached its end is none


def test_a_process_that_cannot_be_started_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "no python"))
    with client(make_app(Library(tmp_path))) as http:
        answer = http.post("/api/runs", json={"scenario": "plaza", "ticks": 2})
    assert answer.status_code == 409 and "cannot be started" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/metrics", "/readyz", "/healthz/", "/healthz/../metrics"])
def test_others_see_without_the_token_only_that_it_answers(path: str, tmp_path: Path) -> None:
    gate = Gate.network("village.example")
    with client(make_app(Library(tmp_path), gate)) as http:
        assert http.get("/healthz").status_code == 200
        assert http.get(path).status_code == 401
        assert http.post("/healthz", json={}).status_code == 401
        assert http.get("/healthz", headers={"Host": "elsewhere.example"}).status_code == 421
        if path in ("/metrics", "/readyz"):
            assert http.get(path, headers={"Authorization": f"Bearer {gate.token}"}).status_code == 200
            assert http.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_a_token_in_a_file_is_asked_for_and_never_printed(tmp_path: Path) -> None:
    file, token = tmp_path / "token", "a-token-of-my-own-0123456789"
    file.write_text(f"{token}\n")
    server = started("serve", "--runs", tmp_path, "--port", 0, "--no-open", "--token-file", file)
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    with pytest.raises(HTTPError, match="401"):
        urlopen(f"{address}readyz")
    assert urlopen(Request(f"{address}readyz", headers={"Authorization": f"Bearer {token}"})).status == 200
    assert urlopen(f"{address}healthz").read() == b"ok\n"
    server.send_signal(signal.SIGTERM)
    out, err = server.communicate(timeout=60)
    assert token not in address + out + err and str(file) in err
    for text in ("", "short", "a token with blanks in it, of no use", "x" * 501):
        file.write_text(text)
        refused = command("serve", "--runs", tmp_path, "--port", 0, "--no-open", "--token-file", file, status=2)
        assert "openssl rand" in refused.err and (not text or text not in refused.err)
