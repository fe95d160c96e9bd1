"""What other sites, other machines and broken programs may try, and what they get."""

from __future__ import annotations

import json
import logging
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.testclient import WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from commonplace.parts.web import app as application
from commonplace.parts.web import guard, listening
from commonplace.parts.web.app import make_app
from commonplace.parts.web.guard import Buckets, Gate
from commonplace.parts.web.library import Library
from commonplace.parts.web.listening import FRAME_BYTES
from e2e.command import command
from parts.web.serving import PATIENCE, client
from parts.web.serving import listening as served
from parts.web.test_live import upgrade

FEED = "ws://127.0.0.1:8000/api/runs/plaza/live"
FORK = "/api/runs/plaza/fork"


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    """A real socket, with little patience."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listening, "REQUEST_TIME", 0.3)
        with served(make_app(Library(folder))) as port:
            yield port


def refused(http: TestClient, url: str = FEED, **headers: str) -> int:
    """The status with which a live connection is refused."""
    with pytest.raises(WebSocketDenialResponse) as refusal, http.websocket_connect(url, headers=headers):
        pass
    assert refusal.value.headers["content-type"] == "application/problem+json"
    return refusal.value.status_code


# ── other sites ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:9000", "http://localhost:8000", "null", ""]
)
def test_a_page_of_another_site_neither_watches_nor_changes(http: TestClient, folder: Path, origin: str) -> None:
    before = sorted(folder.iterdir())
    assert refused(http, origin=origin) == 403
    assert http.post(FORK, json={"at": 3}, headers={"origin": origin}).status_code == 403
    assert http.post(FORK, json={"at": 3}, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("headers", [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
                                     {"origin": "https://evil.example"}])  # fmt: skip
def test_a_page_of_another_site_makes_the_server_do_nothing(http: TestClient, headers: dict[str, str]) -> None:
    """An image or a frame needs no permission to ask. The answer is not shown there, but making it may take seconds."""
    routes = [path.replace("{run}", "plaza") for path, does in http.app.openapi()["paths"].items() if "get" in does]
    assert "/api/runs/plaza/replay.html" in routes
    for path in (*routes, "/api/openapi.json", "/assets/x.js", "/favicon.ico", "/nothing"):
        for ask in (http.get, http.head, http.options):
            answer = ask(path, headers=headers)
            assert answer.status_code == 403, path
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_a_link_on_another_site_leads_to_the_page(folder: Path, gate: Gate) -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    with client(make_app(Library(folder))) as http:
        assert http.get("/", headers=link).status_code != 403
    with client(make_app(Library(folder), gate)) as http:
        assert "set-cookie" in http.get(f"/?token={gate.token}&run=plaza", headers=link).headers


def test_a_form_of_another_site_is_not_read(http: TestClient) -> None:
    """A form needs no permission to be sent, but cannot have this content type."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert http.post(FORK, content=b'{"at": 3}', headers={"content-type": kind}).status_code == 415


def test_the_servers_own_page_may(http: TestClient) -> None:
    own = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    with http.websocket_connect(FEED, headers=own) as feed:
        assert feed.receive_json()["type"] == "status"
    assert http.post("/api/scenarios/check", json={"text": ""}, headers=own).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example:8000", "127.0.0.1.evil.example", "evil@127.0.0.1:x", "10.0.0.9", "[::2]", ""]
)
def test_a_name_that_was_rebound_to_this_machine_is_not_answered(http: TestClient, host: str) -> None:
    """DNS rebinding: the browser believes that it talks to the other site, and lets its page read the answers."""
    for path in ("/api/runs", "/api/runs/plaza", "/", "/api/openapi.json"):
        assert http.get(path, headers={"host": host}).status_code == 421
    assert refused(http, host=host, origin=f"http://{host}") == 421


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:1"])
def test_its_own_names_are(http: TestClient, host: str) -> None:
    assert http.get("/api/runs", headers={"host": host}).status_code == 200


def test_nothing_of_it_can_be_shown_inside_another_site(http: TestClient) -> None:
    for path in ("/api/runs", "/api/nothing", "/"):
        headers = http.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http" not in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


# ── outside the folders ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name",
    ["..", "../secret", "..%2fsecret", "%2e%2e%2fsecret", "..%5csecret", "%2fetc%2fpasswd", "link", ".hidden", "a%00b",
     "plaza.run%00", "plaza.run.talks", "//etc", "~root", "CON:", "a" * 300],
)  # fmt: skip
def test_names_of_runs_stay_in_the_folder(tmp_path: Path, plaza: Path, name: str) -> None:
    inside = tmp_path / "runs"
    inside.mkdir()
    (tmp_path / "secret.run").write_bytes(plaza.read_bytes())
    (inside / "link.run").symlink_to(tmp_path / "secret.run")
    (inside / ".hidden.run").write_bytes(plaza.read_bytes())
    with client(make_app(Library(inside))) as http:
        for path in ("", "/frames?from=0&to=1", "/timeline"):
            answer = http.get(f"/api/runs/{name}{path}")
            assert answer.status_code in (404, 422), answer.text
            assert str(tmp_path) not in answer.text
        assert http.get("/api/runs").json() == []


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "a/b", "..", ".run", "", "x\0y", "x\n"])
def test_new_runs_stay_in_the_folder(http: TestClient, folder: Path, name: str) -> None:
    before = sorted(folder.parent.iterdir())
    for path, body in ((FORK, {"at": 3}), ("/api/runs", {"scenario": "plaza", "ticks": 1})):
        assert http.post(path, json={**body, "run": name}).status_code == 422
    assert sorted(folder.parent.iterdir()) == before


@pytest.mark.parametrize(
    "path",
    ["/../app.py", "/..%2fapp.py", "/assets/../../guard.py", "/assets/..%2f..%2fguard.py", "/%2e%2e/app.py",
     "//etc/passwd", "/assets/%2fetc/passwd", "/assets\\..\\..\\app.py", "/%00"],
)  # fmt: skip
def test_files_beside_the_page_are_not_served(folder: Path, tmp_path: Path, path: str, monkeypatch: Any) -> None:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("the page")
    for name in ("app.py", "guard.py"):
        (tmp_path / name).write_text("secret")
    monkeypatch.setattr(application, "STATIC", static)
    with served(make_app(Library(folder))) as port:
        answer = raw(port, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    assert answer.split(b" ", 2)[1] in (b"404", b"400", b"405"), answer[:300]
    assert b"secret" not in answer and b"root:" not in answer


# ── the token ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def gate() -> Gate:
    return Gate.network("0.0.0.0")


def test_another_address_needs_the_token(folder: Path, gate: Gate) -> None:
    with client(make_app(Library(folder), gate)) as http:
        for path in ("/", "/api/runs", "/api/openapi.json", "/assets/x.js"):
            assert http.get(path).status_code == 401
        assert refused(http) == 401
        assert http.post(FORK, json={"at": 1}).status_code == 401
        assert http.get("/api/runs", headers={"authorization": f"Bearer {gate.token}"}).status_code == 200
        first = http.get(f"/?token={gate.token}&run=plaza")
        cookie = first.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert 'url=/#run=plaza"' in first.text and gate.token not in first.text
        assert http.get("/api/runs").status_code == 200  # by the cookie
        with http.websocket_connect(FEED) as feed:
            assert feed.receive_json()["type"] == "status"


def test_the_page_that_takes_the_token_repeats_no_markup(folder: Path, gate: Gate) -> None:
    with client(make_app(Library(folder), gate)) as http:
        text = http.get(f"/?token={gate.token}&x=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&y=javascript:1").text
    assert "<script" not in text and "url=/#" in text


def test_guessing_the_token_ends(folder: Path, gate: Gate) -> None:
    with client(make_app(Library(folder), gate)) as http:
        wrong = [http.get("/api/runs", headers={"authorization": f"Bearer {n}"}).status_code for n in range(15)]
        assert set(wrong[: guard.ATTEMPTS]) == {401} and set(wrong[guard.ATTEMPTS :]) == {429}
        assert http.get("/api/runs", headers={"authorization": f"Bearer {gate.token}"}).status_code == 429
        assert refused(http, f"{FEED}?token={gate.token}") == 429
    assert len(gate.token) >= 40 and gate.token not in repr(gate)


def test_the_token_is_made_anew_and_only_where_it_is_needed() -> None:
    assert Gate.network("0.0.0.0").token != Gate.network("0.0.0.0").token
    assert Gate.loopback().token == ""
    assert not Gate.loopback().answers_to("192.168.0.7") and Gate.network("192.168.0.7").answers_to("192.168.0.7:80")
    assert not Gate.network("village.example").answers_to("evil.example")


def test_no_key_is_ever_sent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with client(make_app(Library(folder))) as http:
        for path in ("/api/runs", "/api/runs/plaza", "/api/runs/plaza/metrics", "/api/scenarios", "/api/openapi.json"):
            answer = http.get(path)
            assert "sk-very-secret" not in answer.text and "sk-very-secret" not in str(answer.headers)


# ── too much ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bodies_are_limited_whatever_they_say_of_their_length(http: TestClient) -> None:
    kind = {"content-type": "application/json"}
    assert http.post(FORK, content=b"x" * (guard.MOST_BODY + 1), headers=kind).status_code == 413
    chunks = (b"x" * 100_000 for _ in range(20))  # sent without a length
    assert http.post(FORK, content=chunks, headers=kind).status_code == 413
    for length in ("-1", "9" * 40, "x"):
        assert http.post(FORK, content=b"{}", headers={**kind, "content-length": length}).status_code in (400, 413)


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"at":' * 50_000, b'{"at": 1e400}', b'{"at": NaN}', b"\xff\xfe", b""]
)
def test_bodies_that_are_no_json_are_problems(http: TestClient, body: bytes) -> None:
    answer = http.post(FORK, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_scenario_that_unfolds_without_end_is_refused(http: TestClient) -> None:
    """A billion laughs: ten aliases of ten aliases of …"""
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    began = time.process_time()
    assert http.post("/api/scenarios/check", json={"text": bomb}).json()["findings"]
    assert http.post("/api/scenarios/check", json={"text": "[" * 50_000}).json()["findings"]
    assert time.process_time() - began < PATIENCE / 4


def test_who_asks_too_often_waits(folder: Path) -> None:
    with client(make_app(Library(folder))) as http:
        changes = [http.post("/api/scenarios/check", json={"text": ""}).status_code for _ in range(45)]
        assert changes[0] == 200 and changes[-1] == 429
        assert http.get("/api/runs").status_code == 200  # reading goes on


def test_buckets_fill_again_and_forget_no_flooder() -> None:
    now = [0.0]
    buckets = Buckets(3, 1.0, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(4)] == [True, True, True, False]
    assert buckets.take("b")
    now[0] = 2.5
    assert [buckets.take("a") for _ in range(3)] == [True, True, False]
    for number in range(guard.MOST_ADDRESSES * 2):
        buckets.take(str(number))
    assert len(buckets._left) == guard.MOST_ADDRESSES


def test_live_connections_are_limited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_SOCKETS", 2)
    with client(make_app(Library(folder)), client=("127.0.0.1", 1)) as http:
        with http.websocket_connect(FEED), http.websocket_connect(FEED):
            assert refused(http) == 503
        with http.websocket_connect(FEED) as feed:
            feed.receive_json()


@pytest.mark.parametrize(("others", "has"), [(0, 6), (1, 6), (6, 3), (11, 1), (12, 0)])
def test_an_address_has_as_many_places_as_are_left(others: int, has: int) -> None:
    taken = [f"10.0.0.{n}" for n in range(others)]
    while not guard.is_full("10.1.1.1", taken, 12):
        taken.append("10.1.1.1")
    assert taken.count("10.1.1.1") == has
    while not guard.is_full("::1", taken, 12):
        taken.append("::1")
    assert len(taken) == 12  # loopback is everybody behind a proxy or tunnel


# ── on the wire ──────────────────────────────────────────────────────────────────────────────────────────────────────


def raw(port: int, *pieces: bytes, pause: float = 0.0) -> bytes:
    """What a connection answers until it is closed."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        answer = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
            while data := connection.recv(65536):
                answer += data
        except (ConnectionResetError, BrokenPipeError):
            pass
        return answer


def test_a_request_that_trickles_in_is_cut(port: int) -> None:
    """Slow-loris: a byte now and then keeps a connection busy for ever elsewhere."""
    head = f"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
    for beginning in (
        b"",
        head,
        head.replace(b"GET", b"POST") + b"Content-Length: 100\r\nContent-Type: application/json\r\n\r\n",
    ):
        began = time.monotonic()
        answer = raw(port, beginning, *(b"X" for _ in range(12)), pause=0.05)
        assert time.monotonic() - began < PATIENCE / 2 and b"200" not in answer
    whole = head + b"Connection: close\r\n\r\n"
    assert raw(port, whole[:20], whole[20:], pause=0.02).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(("module", "limit", "live"), [(listening, "MOST_CONNECTIONS", False),
                                                       (guard, "MOST_SOCKETS", True)])  # fmt: skip
def test_no_address_takes_all_places(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: Any, limit: str, live: bool
) -> None:
    monkeypatch.setattr(module, limit, 4)
    monkeypatch.setattr(guard, "is_loopback", lambda _: False)
    with served(make_app(Library(folder))) as port, ExitStack() as stack:
        get = f"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        asked = upgrade(port, "plaza") if live else get

        def answer(address: str) -> bytes:
            """To one more connection of the address, which stays open."""
            place = ("127.0.0.1", port)
            connection = stack.enter_context(socket.create_connection(place, PATIENCE, source_address=(address, 0)))
            with suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(asked)
                return connection.recv(12)[9:]
            return b""

        good, bad = (b"101", b"503") if live else (b"200", b"")
        assert [answer("127.0.0.2") for _ in range(3)] == [good, good, bad]
        assert answer("127.0.0.3") == good


def test_a_live_connection_that_is_refused_is_nothing_to_report(port: int, caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("uvicorn.error")
    log.addHandler(caplog.handler)
    try:
        assert raw(port, upgrade(port, "nothing")).startswith(b"HTTP/1.1 404")
    finally:
        log.removeHandler(caplog.handler)
    assert caplog.text == ""


def test_headers_are_limited(port: int) -> None:
    head = f"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
    assert raw(port, head + b"X: " + b"y" * 200_000 + b"\r\n\r\n")[:12] in (b"HTTP/1.1 400", b"")
    assert (
        raw(port, f"GET /api/runs?{'q' * 9000} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())[:12]
        == b"HTTP/1.1 414"
    )


def frame(data: bytes, opcode: int = 1, *, masked: bool = True, length: int | None = None) -> bytes:
    """A frame of a client; `length` is what it claims."""
    size = len(data) if length is None else length
    head = struct.pack("!BB", 0x80 | opcode, 0x80 * masked | (size if size < 126 else 126 if size < 65536 else 127))
    head += b"" if size < 126 else struct.pack("!H", size) if size < 65536 else struct.pack("!Q", size)
    return head + (b"\0\0\0\0" if masked else b"") + data


@pytest.mark.parametrize(
    "bad",
    [
        frame(b"x" * (FRAME_BYTES + 1)),  # too large
        frame(b"x", length=1 << 62),  # claims to be
        frame(b"hello", masked=False),
        frame(b"hello", opcode=0xB),
        frame(b"\xff\xfe"),
        b"\xff" * 64,
        frame(b"{}"),  # well-formed, but nothing is expected
        b"".join(frame(b"x" * 100, opcode=9) for _ in range(2000)),  # pings, whose answers nobody reads
        b"".join(frame(b"{}") for _ in range(20_000)),
    ],
)  # fmt: skip
def test_a_live_connection_that_says_anything_is_closed(port: int, bad: bytes) -> None:
    with closing(socket.create_connection(("127.0.0.1", port), PATIENCE)) as live:
        live.sendall(upgrade(port, "plaza"))
        assert b"101 Switching" in live.recv(65536)
        with suppress(ConnectionResetError, BrokenPipeError):
            live.sendall(bad)
            while live.recv(65536):
                pass
    with closing(socket.create_connection(("127.0.0.1", port))) as fine:  # and others are served
        fine.sendall(f"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        assert fine.recv(100).startswith(b"HTTP/1.1 200")


def test_what_a_page_says_ends_its_connection(http: TestClient) -> None:
    with http.websocket_connect(FEED) as feed:
        feed.send_text("x")
        with pytest.raises(WebSocketDisconnect) as ended:
            while True:
                feed.receive_json()
    assert ended.value.code == 1008


# ── markup ───────────────────────────────────────────────────────────────────────────────────────────────────────────

SCRIPT = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
TRICKS = f"{SCRIPT}\u202e\x1b[31m\x07\u200b"


def test_texts_are_data_and_hold_no_control_characters(tmp_path: Path) -> None:
    """Names, places, plans, god mode: as JSON, which no browser reads as a page, and cleaned; the page shows text."""
    command("new", tmp_path / "mine.yaml")
    text = (tmp_path / "mine.yaml").read_text(encoding="utf-8")
    name = json.dumps(TRICKS[:78].replace("\x07", ""))
    lines = [f"title: {name}" if line.startswith("title:") else line for line in text.splitlines()]
    with client(make_app(Library(tmp_path))) as http:
        made = http.post("/api/runs", json={"text": "\n".join(lines), "ticks": 1, "run": "mine"})
        assert made.status_code == 201, made.text
        assert "<img src=x onerror=" in made.json()["title"]
        said = http.post("/api/runs/mine/inputs", json={"kind": "god", "text": TRICKS, "preview": True})
        answers = [made, said, http.get("/api/runs/mine"), http.get("/api/runs"), http.get(f"/api/runs/{SCRIPT}")]
        answers.append(http.get("/api/runs/mine/lines", params={"category": SCRIPT[:20]}))
        answers.append(http.get("/api/runs/mine/agents/x", params={"at": SCRIPT}))
    for answer in answers:
        assert answer.headers["content-type"] in ("application/json", "application/problem+json")
        assert answer.headers["x-content-type-options"] == "nosniff"
        for trick in ("\u202e", "\x1b", "\x07", "\u200b", "\\u001b", "\\u0007"):
            assert trick not in answer.text
