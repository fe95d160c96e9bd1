"""`doctor` of a database and of a cluster: what it finds, what it says to do, and that it leaves nothing behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import install
from commonplace.parts.workbench import check_cluster, check_postgres
from commonplace.parts.workbench.check_cluster import Node, compared
from commonplace.parts.workbench.check_postgres import postgres
from commonplace.parts.workbench.checks import BROKEN, FINE, NOTE
from e2e.command import command, environment

SECRET = "s3cret-0123456789"


def found(url: str, state: str = "") -> dict[str, str]:
    """What is found: what → what to do about it."""
    return {one.what: one.hint for one in postgres(url) if state in ("", one.state)}


def other(url: str, database: str, **options: str) -> str:
    """The address of another database of the server."""
    begin, _, rest = url.partition("/postgres?")
    given = "".join(f"&{name}={value}" for name, value in options.items())
    return f"{begin}/{database}?{rest}{given}"


@pytest.fixture(scope="module")
def limited(postgres_url: str) -> Iterator[str]:
    """A database without pgvector in which `guest` may do nothing, and one that is not in UTF-8."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE plain TEMPLATE template0")
        connection.execute("CREATE DATABASE bytes ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        connection.execute(f"CREATE ROLE guest LOGIN PASSWORD '{SECRET}'")
        yield postgres_url
        for what in ("DATABASE plain", "DATABASE bytes", "ROLE guest"):
            connection.execute(f"DROP {what}")


def test_a_database_that_will_do_is_fine_and_stays_as_it_is(postgres_url: str) -> None:
    import psycopg

    def tables() -> Any:
        with psycopg.connect(postgres_url) as connection:
            return connection.execute("SELECT oid, relname FROM pg_class ORDER BY 1").fetchall()

    before = tables()
    done = command("doctor", postgres_url, "--json")
    assert {row["state"] for row in done.rows} == {FINE}
    for expected in (
        "psycopg ",
        ": PostgreSQL ",
        "may make tables",
        "pgvector ",
        "connections are left",
        "a commit takes",
    ):
        assert any(expected in row["what"] for row in done.rows), expected
    assert tables() == before


def test_who_may_do_nothing_is_told_what_to_ask_for(limited: str) -> None:
    broken = found(other(limited, "plain", user="guest", password=SECRET), BROKEN)
    assert not any(SECRET in what + hint for what, hint in broken.items())
    assert "GRANT CREATE" in next(hint for what, hint in broken.items() if "may not make tables" in what)
    assert "as a superuser: CREATE EXTENSION vector" in broken.values()
    assert any("is put into this database" in what for what in found(other(limited, "plain"), FINE))


def test_what_is_wrong_with_a_database_is_said(limited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any("SQL_ASCII" in what for what in found(other(limited, "bytes"), BROKEN))
    read_only = other(limited, "plain", options="-cdefault_transaction_read_only%3Don")
    assert any("can only read" in what for what in found(read_only, BROKEN))
    careless = other(limited, "plain", options="-csynchronous_commit%3Doff")
    assert "synchronous_commit is off: a power cut loses the last ticks" in found(careless, NOTE)
    monkeypatch.setattr(check_postgres, "FEW", 10_000)
    monkeypatch.setattr(check_postgres, "SLOW_TRIP", 0)
    monkeypatch.setattr(check_postgres, "SLOW_COMMIT", 0)
    assert len(found(limited, NOTE)) == 3 and all(found(limited, NOTE).values())
    monkeypatch.setattr(check_postgres, "OLDEST", 99)
    assert list(found(limited, BROKEN).values()) == ["99 or later is needed: upgrade the server"]


def test_a_database_that_is_not_there_is_told_without_the_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    done = command("doctor", f"postgresql://me:{SECRET}@127.0.0.1:1/town", status=1)
    assert "cannot be reached" in done.out and SECRET not in done.out + done.err
    assert "not the address of a database" in command("doctor", "postgresql://me@host:port/x?y=1", status=1).out


def test_an_embedded_database_is_started_and_stopped(tmp_path: Path, postgres_url: str) -> None:
    from commonplace.memory.stores import open_store

    place = f"embedded:{tmp_path / 'data'}"
    assert "no database is there yet" in command("doctor", place).out
    assert not list(tmp_path.iterdir())
    open_store(place).close()
    assert "a commit takes" in command("doctor", place).out
    assert not (tmp_path / "data" / "postmaster.pid").exists()
    with open_holding(place):  # its server is used, and goes on
        assert "a commit takes" in command("doctor", place, env=environment()).out
        assert (tmp_path / "data" / "postmaster.pid").exists()


def open_holding(place: str) -> Any:
    from contextlib import closing

    from commonplace.memory.stores import open_store

    return closing(open_store(place))


@pytest.mark.parametrize(
    ("target", "extra"), [("postgresql://x", "postgres"), ("embedded:x", "postgres"), ("ray", "cluster")]
)
def test_what_is_not_installed_is_told_with_the_line_that_installs_it(
    target: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (check_postgres, check_cluster):
        monkeypatch.setattr(module, "installed", dict[str, str]().get)
    assert install(extra) in command("doctor", target, status=1).out


def test_another_target_is_refused() -> None:
    assert "neither a database nor a cluster" in command("doctor", "mysql://x", status=2).err


# ── a cluster ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_this_machine_is_looked_at_without_starting_anything() -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    done = command("doctor", "ray", status=None)
    assert "CPUs that can be used" in done.out and "of memory" in done.out


def test_a_cluster_that_is_not_there_is_told_at_once() -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    for target in ("ray://127.0.0.1:1", "ray://127.0.0.1:port", "ray://"):
        out = command("doctor", target, status=1).out
        assert "cannot be reached" in out and "ray start --head" in out, target


@pytest.mark.parametrize(
    ("node", "hint"),
    [
        (Node("3.12.9", "2.60.0", "0.1.0"), ""),
        (Node("3.11.9", "2.60.0", "0.1.0"), "install Python 3.12 and ray 2.60.0 there"),
        (Node("3.12.1", "2.59.0", "0.1.0"), "install Python 3.12 and ray 2.60.0 there"),
        (Node("3.12.1", "2.60.0", "0.2.0"), "install Commonplace 0.1.0 there"),
        (Node("3.12.1", "2.60.0", ""), "install Commonplace 0.1.0 there, with the extra cluster"),
    ],
)
def test_a_node_must_have_the_same_versions(node: Node, hint: str) -> None:
    check = compared("10.0.0.5", node, Node("3.12.1", "2.60.0", "0.1.0"))
    assert (check.state == FINE) == (not hint) and hint in check.hint and "10.0.0.5" in check.what


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("unshare"), reason="Ray listens everywhere; it is started in a network of its own")
def test_a_cluster_is_asked_node_by_node(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    ray = Path(sys.executable).with_name("ray")
    script = f"""
    ip link set lo up
    {ray} start --head --node-ip-address=127.0.0.1 --num-cpus=1 --include-dashboard=false \
        --ray-client-server-port=10001 --object-store-memory=100000000 --temp-dir=/tmp/{tmp_path.name[:8]}-ray >&2
    for _ in $(seq 60); do (exec 3<>/dev/tcp/127.0.0.1/10001) 2>/dev/null && break; sleep 1; done
    {sys.executable} -m commonplace doctor ray://127.0.0.1:10001
    """
    done = subprocess.run(
        ["unshare", "-rn", "--mount-proc", "--pid", "--fork", "bash", "-c", script],
        env=environment(RAY_USAGE_STATS_ENABLED="0"), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if "unshare" in done.stderr:
        pytest.skip("no network of its own can be made here")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nodes: 1; CPUs: 1" in done.stdout and "fine    127.0.0.1: Python" in done.stdout
