"""``confir history``: the looks of a gate, as a table or a chart."""

from __future__ import annotations

from typing import Annotated

from confir.cli.output import Output
from confir.cli.parameters import Argument, Option, PathRole
from confir.errors import InvalidValueError


def history_command(
    *,
    file: Annotated[
        str | None,
        Argument(
            metavar="FILE",
            help="What --history of confir compare or confir preferences wrote.",
            path=PathRole.READ,
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        Option(
            "Only this measure (repeatable); by default all in the history.",
            "NAME",
            names=("-m", "--measure"),
            measures=True,
        ),
    ] = None,
    run: Annotated[
        list[str] | None,
        Option("Only this candidate (repeatable).", "NAME", names=("--run",), path=PathRole.RUN),
    ] = None,
    out: Output,
) -> None:
    """Show how a gate decided over time: table, or chart of differences with intervals.

    For example:

    - `confir history history.jsonl`
    - `confir history history.jsonl -m nDCG@10 -o trend.html`
    - `confir history history.jsonl --run branch --format json`
    """
    from confir.cli.answers import result_answer
    from confir.cli.file_checks import check_drawing
    from confir.studies.history.history import read_history

    if file is None:
        raise InvalidValueError("expected FILE; for example: confir history history.jsonl")
    history = read_history(file)
    chosen = {name: wanted for name, wanted in (("measure", measure), ("run", run)) if wanted}
    shown = history.select(**chosen) if chosen else history
    if out.output is not None and out.output.lower().endswith(".html"):
        from confir.data.files import write_whole
        from confir.studies.history.page import history_page

        check_drawing()
        write_whole(out.output, history_page(shown).encode())
        return
    out.deliver(result_answer(shown))
