"""What is done to run files as files: `export`, `import`, `trim`, `rescue`."""

from __future__ import annotations

import sys
from contextlib import closing
from enum import StrEnum
from pathlib import Path

import typer

from commonplace.analysis.tables import TABLES
from commonplace.analysis.tables import table as table_of
from commonplace.cli.consent import agreed
from commonplace.cli.options import FORCE, RUN, TRUST, file
from commonplace.cli.output import working
from commonplace.errors import UsageError, command
from commonplace.parts.workbench.bundle import Bundled, export_bundle, import_bundle
from commonplace.parts.workbench.exports import TEXTS
from commonplace.parts.workbench.rescue import rescue as saved
from commonplace.parts.workbench.table_files import write_table
from commonplace.parts.workbench.trim import first_kept
from commonplace.parts.workbench.trim import trim as trimmed
from commonplace.run.place import Place
from commonplace.run.reading import Reading
from commonplace.run.tables import Tables
from commonplace.text import clean
from commonplace.trust import settle, stage_named_by_run
from commonplace.whole_file import written_whole


class ExportFormat(StrEnum):
    """A form in which a run can be exported."""

    BUNDLE = "bundle"
    HTML = "html"
    CSV = "csv"
    PARQUET = "parquet"
    TRAINING = "training"
    EVENTS = "events"
    MEMORIES = "memories"
    NETWORK = "network"
    TRANSCRIPT = "transcript"


class ImportFormat(StrEnum):
    """A form from which a run can be imported."""

    BUNDLE = "bundle"


class TrimKind(StrEnum):
    """A kind of content that can be trimmed."""

    TRACES = "traces"
    PROMPTS = "prompts"


ROWS = {TrimKind.TRACES: "trace", TrimKind.PROMPTS: "call"}


ENDINGS = {
    ExportFormat.BUNDLE: ".zip",
    ExportFormat.HTML: ".html",
    ExportFormat.TRAINING: ".jsonl",
    **{ExportFormat(name): ending for name, (ending, _) in TEXTS.items()},
}


def export(
    run: Place = RUN,
    form: ExportFormat = typer.Argument(
        help="`bundle`: a zip file with all that the run needs; `html`: a page to look at; `transcript`: all that was "
        "said, as Markdown; `events`, `memories`: JSON lines; `network`: who talks with whom, as GraphML; `csv`, "
        "`parquet`: a table; `training`: chats to fine-tune a model on."
    ),
    output: Path | None = typer.Option(
        None,
        "-o",
        "--output",
        help="The file; RUN with the ending of the form, such as .zip, if left out.",
    ),
    table: str | None = typer.Option(
        None,
        "--table",
        help=f"csv, parquet: {', '.join(TABLES)}; events if left out.",
        autocompletion=lambda: [*TABLES],
    ),
    first: str | None = typer.Option(
        None, "--from", metavar="TICK", help="html: begin at this tick or ISO simulated time."
    ),
    last: str | None = typer.Option(None, "--to", metavar="TICK", help="html: end at this tick or ISO simulated time."),
    prompts: bool = typer.Option(
        False, "--prompts", help="html: with all that was sent to a model and came back, word by word."
    ),
    offline: bool = typer.Option(
        False, "--offline", help="training: the answers of the offline mind, as a model would write them."
    ),
    trust: bool = TRUST,
    force: bool = FORCE,
) -> None:
    """Write a run to another form.

    A bundle is one zip file with a digest of each part, to send or to keep. The page is one HTML file that shows the
    run on any computer: map, time-line, characters, memories and reasons; it needs no server and no network. A table is
    for spreadsheets and data frames.
    """
    if form is not ExportFormat.HTML and (first is not None or last is not None or prompts):
        raise UsageError("--from, --to and --prompts are for html", hint="leave them out")
    if offline and form is not ExportFormat.TRAINING:
        raise UsageError("--offline is for training", hint="leave it out")
    if form not in (ExportFormat.CSV, ExportFormat.PARQUET) and table is not None:
        raise UsageError(f"--table is for csv and parquet, not for {form.value}", hint="leave it out")
    name = table or "events"
    if output is None:
        with closing(Tables.open(run)) as named:  # a database may hold one run, which was not named
            run = named.path
    target = output or run.with_suffix(ENDINGS.get(form, f".{name}.{form.value}"))
    if form is ExportFormat.HTML:
        _page(run, target, first, last, prompts, force)
    elif form is ExportFormat.CSV or form is ExportFormat.PARQUET:
        with Reading.open(run) as reading, working(lambda: f"the table of {name} is written"):
            found = table_of(reading, name)
            rows = write_table(found, target, form.value, force=force)
        print(f"{target}: {rows:,} rows of {name}, {len(found)} columns")
    elif form.value in TEXTS:
        with Reading.open(run) as reading, written_whole(target, force=force) as part, part.open("wb") as file:
            file.writelines(TEXTS[form.value][1](reading))
            size = file.tell()
        print(f"{target}: {size / 1e6:.2f} MB")
    elif form is ExportFormat.TRAINING:
        _training(run, target, offline, trust, force)
    else:
        with working(lambda: "the run is checked and packed"):
            done = export_bundle(run, target, force=force)
        _print(target, done)


def _page(run: Place, target: Path, first: str | None, last: str | None, prompts: bool, force: bool) -> None:
    from commonplace.parts.web.one_file import export as page  # noqa: PLC0415 – start-up speed

    with Reading.open(run) as reading:
        done = page(
            reading,
            target,
            first=first,
            last=last,
            prompts=prompts,
            force=force,
            progress=lambda made: print(f"  {made}", file=sys.stderr),
        )
    print("it holds all memories and thoughts of these ticks: whoever has the file can read them", file=sys.stderr)
    print(f"{target}: ticks {done.first} to {done.last}, {done.bytes / 1e6:.1f} MB")


def _training(run: Place, target: Path, offline: bool, trust: bool, force: bool) -> None:
    from commonplace.parts.workbench.training import export_training  # noqa: PLC0415 – start-up speed

    with Reading.open(run) as reading:
        code = stage_named_by_run(reading.manifest)
        settle(code, run, trust=agreed(code, run, trust=trust))
        with working(lambda: "the turns are run again"):
            done = export_training(reading, target, offline=offline, force=force)
    print("they hold what characters saw and remembered: whoever has the file can read it", file=sys.stderr)
    if done.left_out:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in done.left_out.items())
        print(f"left out: {reasons}", file=sys.stderr)
    print(f"{target}: {done.count:,} examples, {done.bytes / 1e6:.2f} MB")


def import_(
    form: ImportFormat = typer.Argument(help="The form: `bundle`, as `export` writes it."),
    source: Path = typer.Argument(metavar="PATH", help="The file to import."),
    output: Path = typer.Option(..., "-o", "--output", parser=file, metavar="PATH", help="The new run file."),
    force: bool = FORCE,
) -> None:
    """Make a run of what was exported. All of it is checked before the run appears."""
    del form
    with working(lambda: "the bundle is checked and taken out"):
        done = import_bundle(source, output, force=force)
    _print(output, done)
    print(f"run it again to compare: {command('verify', output)}", file=sys.stderr)


def _print(target: Path, bundled: Bundled) -> None:
    for need in bundled.needs:
        print(f"to be resumed, the run also needs what its mind reads: {clean(need)}", file=sys.stderr)
    print(f"{target}: {clean(bundled.scenario)}, tick {bundled.tick}  digest {clean(bundled.history)}")


def trim(
    run: Place = RUN,
    before: str | None = typer.Option(
        None, "--before", metavar="TICK", help="Trim what is older than this tick or ISO simulated time."
    ),
    keep_days: int | None = typer.Option(
        None, "--keep-days", min=0, help="Trim what is older than the last so many simulated days."
    ),
    kind: list[TrimKind] = typer.Option(
        [TrimKind.TRACES],
        "--kind",
        help="Why everybody did what they did, or what was sent to a model; repeat for both.",
    ),
) -> None:
    """Drop old traces, the reasons that `why` shows, to make the file smaller. History and memories stay."""
    with Reading.open(run) as reading:
        first = first_kept(reading, before, keep_days)
    with working(lambda: "the file is made smaller"):
        done = trimmed(run, first, [ROWS[one] for one in kind])
    counts = ", ".join(f"{done.rows[ROWS[one]]} {one}" for one in dict.fromkeys(kind))
    freed = "" if done.freed is None else f"; the file is {done.freed / 1e6:.1f} MB smaller"
    print(f"{run}: trimmed {counts} of the ticks before {done.before}{freed}")


def rescue(
    run: Path = typer.Argument(parser=file, metavar="RUN", help="The run file."),
    output: Path = typer.Option(..., "-o", "--output", parser=file, metavar="PATH", help="The new run file."),
    scenario: str = typer.Option(
        "",
        "--scenario",
        help="What it was made from, if the scenario in it is damaged; a shipped one is found.",
    ),
    force: bool = FORCE,
) -> None:
    """Save what is intact of a damaged run: the longest past that is as it was committed, in a new file."""
    with working(lambda: "what is intact is looked for and copied"):
        done = saved(run, output, scenario=scenario, force=force)
    print(f"{output}: ticks 0 to {done.tick} of {done.last} are as they were committed")
    for lost in done.lost:
        print(f"lost: {clean(lost)}")
    if not done.lost:
        print("nothing is lost")
    print(f"continue with: {command('resume', output)}")
