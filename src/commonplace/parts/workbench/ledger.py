"""`ledger`: show the entries of a ledger, or verify that nothing in it was changed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from commonplace.canon import canonical
from commonplace.cli.options import JSON
from commonplace.errors import CommonplaceError
from commonplace.ledger import show, verify
from commonplace.text import one_line, printable_json


class LedgerAction(StrEnum):
    """An action on a ledger."""

    SHOW = "show"
    VERIFY = "verify"


def ledger(
    action: LedgerAction = typer.Argument(help="show or verify."),
    path: Path = typer.Argument(help="The folder of the ledger."),
    as_json: bool = JSON,
    session: str | None = typer.Option(None, "--session", help="Show only entries of this session."),
    kind: str | None = typer.Option(None, "--type", help="Show only entries of this type, such as evaluation."),
    persona: str | None = typer.Option(None, "--persona", help="Show only entries of this persona."),
    memory: str | None = typer.Option(None, "--memory", help="Show only entries about this memory."),
) -> None:
    """Show the entries of a ledger, oldest first, or verify its whole chain and list what is wrong with it."""
    if action is LedgerAction.VERIFY:
        _verify(path, as_json=as_json)
        return
    for entry in show(path, session_id=session, event_type=kind, persona_id=persona, memory_id=memory):
        print(_json(entry) if as_json else _line(entry))


def _verify(path: Path, *, as_json: bool) -> None:
    found = verify(path)
    if as_json:
        findings = [{"where": one.where, "what": one.what} for one in found.findings]
        print(_json({"days": found.days, "entries": found.entries, "head": found.head, "findings": findings}))
    else:
        for one in found.findings:
            print(f"{one.where}: {one.what}")
        print(f"days {found.days}  entries {found.entries}  head {found.head}")
    if not found.sound:
        count = len(found.findings)
        what = f"{count} finding{'s' * (count > 1)} in the ledger"
        hint = "restore a copy, or keep it as it is: the entries before the first finding are unchanged"
        raise CommonplaceError(what, where=str(path), hint=hint)


def _line(entry: dict[str, Any]) -> str:
    about = entry.get("memory_id") or " ".join(entry.get("memory_refs") or ()) or "-"
    head = f"{entry['timestamp'][:19]}  {entry['event_type']:<18} {entry.get('persona_id') or '-':<14}"
    return one_line(f"{head} {entry.get('session_id') or '-':<22} {about}  {entry['hash'][:12]}")


def _json(value: Any) -> str:
    return printable_json(canonical(value).decode())
