"""A PostgreSQL server as a store: how it is reached, its tables, and its errors in words a person can use."""

from __future__ import annotations

import re
from typing import Any

from commonplace.errors import CommonplaceError, WrongUse

INSTALL = 'pip install "commonplace[postgres]"'
FORMAT = 1
"""Number of the table layout. A newer one is refused."""

# state: 0 there, 1 archived (text and rest in packed), 2 forgotten; times: microseconds since the year 1; exact: the
# vector's values, of width bytes a dimension; embedding: the same where the database can compare it, else NULL
TABLES = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "CREATE TABLE IF NOT EXISTS commonplace_format(number int PRIMARY KEY)",
    f"INSERT INTO commonplace_format VALUES ({FORMAT}) ON CONFLICT DO NOTHING",
    "CREATE TABLE IF NOT EXISTS commonplace_agent("
    " number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " name text COLLATE \"C\" NOT NULL UNIQUE, settings text NOT NULL DEFAULT '{}')",
    "CREATE TABLE IF NOT EXISTS commonplace_memory("
    " agent int NOT NULL REFERENCES commonplace_agent, id int NOT NULL, state smallint NOT NULL,"
    " tick bigint NOT NULL, kind text NOT NULL, importance float8 NOT NULL, created bigint NOT NULL,"
    " accessed bigint NOT NULL, text text NOT NULL, rest text NOT NULL, packed bytea,"
    " width smallint NOT NULL, exact bytea, dimensions int NOT NULL, norm float8 NOT NULL, embedding vector,"
    # vectors beside their rows, not out of line, where each would have to be looked up
    " PRIMARY KEY(agent, id)) WITH (toast_tuple_target = 8160)",
)


def without_password(url: str) -> str:
    """The URL as it may be shown."""
    return re.sub(r"(?i)(password=)[^&\s]*", r"\1…", re.sub(r"(://[^:/@]*):[^@/]*@", r"\1@", url))


def explained(error: Exception, where: str, *, gone: bool) -> CommonplaceError:
    """The driver's error in words: what is wrong, where, what to do."""
    from psycopg import errors  # noqa: PLC0415 - an optional package

    said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if gone or isinstance(error, errors.AdminShutdown):
        todo = "what was acknowledged is safe: see that the server runs, and open the store again"
        return CommonplaceError(f"the connection to the server is gone ({said})", where=where, todo=todo)
    if isinstance(error, errors.DiskFull):
        return CommonplaceError(
            "the server's disk is full", where=where, todo="nothing acknowledged is lost: free some"
        )
    if isinstance(error, errors.ReadOnlySqlTransaction | errors.InsufficientPrivilege):
        todo = "ask for a role that may create and write tables there"
        return CommonplaceError(f"it cannot be written ({said})", where=where, todo=todo)
    if isinstance(error, errors.UndefinedFile | errors.FeatureNotSupported) and "vector" in said:
        todo = "install pgvector on the server, or use embedded:FOLDER, which brings it along"
        return CommonplaceError("the server has no pgvector extension", where=where, todo=todo)
    return CommonplaceError(f"PostgreSQL says: {said}", where=where, todo="look at the database; nothing was changed")


def connected(url: str, where: str) -> Any:
    """A connection in autocommit. Raises WrongUse for what is no address, CommonplaceError for no server."""
    try:
        import psycopg  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise WrongUse("PostgreSQL needs the package psycopg", where=where, todo=INSTALL) from error
    try:
        return psycopg.connect(url, autocommit=True, connect_timeout=10)
    except psycopg.ProgrammingError as error:
        todo = "write it as postgresql://USER:PASSWORD@HOST/DATABASE"
        raise WrongUse(f"this is no address of a database ({error})", where=where, todo=todo) from error
    except psycopg.Error as error:
        said = without_password(str(error).strip().splitlines()[-1])
        todo = "see that the server runs, and that user, password and database are right"
        raise CommonplaceError(f"the server cannot be reached ({said})", where=where, todo=todo) from error


def register_vectors(connection: Any) -> None:
    """Lets the connection pass vectors as arrays. Raises WrongUse without the package pgvector."""
    try:
        from pgvector.psycopg import register_vector  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise WrongUse("PostgreSQL needs the package pgvector", todo=INSTALL) from error
    register_vector(connection)


def make_tables(connection: Any, where: str) -> None:
    """Makes the tables if there are none. Raises WrongUse for a newer format."""
    if connection.execute("SELECT to_regclass('commonplace_format')").fetchone() == (None,):
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(67108877)")  # two that come first at once make them once
            for statement in TABLES:
                connection.execute(statement)
    (number,) = connection.execute("SELECT max(number) FROM commonplace_format").fetchone()
    if number > FORMAT:
        raise WrongUse(
            f"a store of format {number}, made by a newer Commonplace; this one reads formats up to {FORMAT}",
            where=where,
            todo="upgrade: pip install --upgrade commonplace",
        )
