"""``confir chance``: what random rankings score, and runs beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from confir.cli import options
from confir.cli.given import refuse_options
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.studies.random_baseline import Chance

_CHANCE = "Chance"

# Options that only runs give a meaning to.
_OF_RUNS = ("draws", "missing", "name_by", "tie_precision", "seed")


def chance_command(
    context: typer.Context,
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    documents: Annotated[
        int | None,
        typer.Option(
            "--documents",
            metavar="N",
            help="Number of documents in the collection.",
            callback=options.at_least(1),
            rich_help_panel=_CHANCE,
        ),
    ] = None,
    relevant: Annotated[
        int | None,
        typer.Option(
            "--relevant",
            metavar="R",
            help="Number of relevant documents, instead of QRELS.",
            callback=options.at_least(0),
            rich_help_panel=_CHANCE,
        ),
    ] = None,
    draws: Annotated[
        int,
        typer.Option(
            "--draws",
            help="Random rankings per topic, for the probability that chance reaches a run's AP; "
            "0 leaves it out.",
            callback=options.at_least(0),
            rich_help_panel=_CHANCE,
        ),
    ] = 9_999,
    measure: options.MeasuresOption = None,
    per_topic: Annotated[
        bool, typer.Option("-q", "--per-topic", help="Print every topic instead of means.")
    ] = False,
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
    seed: options.SeedOption = options.DEFAULT_SEED,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
    quiet: options.QuietOption = False,
) -> None:
    """Say what a random ranking scores, and how far runs are above that.

    Examples: `confir chance --documents 1000 --relevant 10` and
    `confir chance qrels.txt bm25.run --documents 528155 --depth 1000`
    """
    from confir.cli.terminal import be_quiet, check_output, deliver
    from confir.measures.catalogue import DEFAULT_MEASURES
    from confir.studies.random_baseline import compare_with_chance, describe_chance

    check_output(output, kind)
    if quiet:
        be_quiet()
    if documents is None:
        raise InvalidValueError(
            "expected --documents N, the number of documents that a random ranking would rank; "
            "for example: confir chance qrels.txt bm25.run --documents 528155"
        )
    names = measure or list(DEFAULT_MEASURES)
    if not runs:
        refuse_options(context, _OF_RUNS, "is for runs; there is none")
    if relevant is not None:
        if qrels is not None:
            raise InvalidValueError("--relevant stands in for QRELS; give one or the other")
        refuse_options(context, ["per_topic"], "is for the topics of QRELS; there are none")
        chance = describe_chance(documents, relevant, names, depth=depth, rel=rel)
        deliver(_answer(chance, per_topic=False, note=_note(chance)), output=output, kind=kind)
        return
    if qrels is None:
        raise InvalidValueError(
            "expected QRELS or --relevant R; for example: confir chance --documents 1000 "
            "--relevant 10"
        )
    from confir.cli.input import check_reading, load_scores
    from confir.data.neighbours import as_qrels

    check_reading(missing, name_by, tie_precision)
    judged = as_qrels(qrels)
    # before any run is read: errors of the request come at once
    chance = compare_with_chance(judged, documents=documents, measures=names, depth=depth, rel=rel)
    if runs:
        scores = load_scores(
            judged,
            runs,
            measures=names,
            rel=rel,
            depth=depth,
            missing=missing,
            name_by=name_by,
            tie_precision=tie_precision,
            quiet=quiet,
        )
        chance = compare_with_chance(
            judged, scores, documents=documents, depth=depth, draws=draws, rng=seed
        )
    note = _note(chance, draws, seed)
    deliver(_answer(chance, per_topic=per_topic, note=note), output=output, kind=kind)


def _answer(chance: Chance, *, per_topic: bool, note: str) -> Answer:
    from confir.cli.terminal import Answer
    from confir.report.chance_tables import chance_table, chance_topic_table

    table = chance_topic_table(chance, note) if per_topic else chance_table(chance, note)
    return Answer(chance.to_records(per_topic=per_topic), table, chance)


def _note(chance: Chance, draws: int = 0, seed: int | None = None) -> str:
    """Return the line below the table, with what was drawn for p."""
    from confir.measures.chance_tail import ERROR_LEVEL
    from confir.report.chance_tables import chance_note

    drawn = (
        f"; p: chance reaches the AP, {draws:,} draws per topic, seed {seed}; < is a bound that "
        f"holds with {100 * ERROR_LEVEL:g} % confidence"
    )
    return chance_note(chance) + (drawn if chance.runs and draws else "")
