"""``confir chance``: the expected score of random rankings, compared with runs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs, reading_options
from confir.cli.input_options import CHOOSING, JUDGED
from confir.cli.output import Output
from confir.cli.parameters import Option, Without, refuse_options
from confir.cli.views import TOPICS, TopicsOption, View, Views
from confir.defaults import DRAWS, SEED
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.studies.chance.chance import Chance

_CHANCE = "Chance"

# Reading options that also apply without runs.
_OF_QRELS = ("rel", "depth")

VIEWS = Views(
    View("means", "means over the topics", "chance"), View(TOPICS, "every topic", "chance")
)


def chance_command(
    *,
    inputs: Annotated[Inputs, Without("scores", "columns", "intents", "bounded", *JUDGED)],
    documents: Annotated[
        int | None,
        Option("Number of documents in the collection.", "N", panel=_CHANCE, least=1, short=True),
    ] = None,
    relevant: Annotated[
        int | None,
        Option(
            "Number of relevant documents, instead of QRELS.",
            "R",
            panel=_CHANCE,
            least=0,
            short=True,
        ),
    ] = None,
    draws: Annotated[
        int,
        Option(
            "Random rankings per topic, for the p-value of a run's AP; 0 for none.",
            panel=_CHANCE,
            least=0,
        ),
    ] = DRAWS,
    show: Annotated[str | None, VIEWS.option()] = None,
    topics: TopicsOption = False,
    seed: options.SeedOption = SEED,
    out: Output,
) -> None:
    """Compare runs with the expected score of a random ranking.

    For example:

    - `confir chance --documents 1000 --relevant 10`
    - `confir chance qrels.txt bm25.run --documents 528155 --depth 1000`
    - `confir chance qrels.txt runs/ --documents 528155 -m AP -o chance.svg`
    """
    from confir.cli.answers import Answer
    from confir.measures.measure_list import DEFAULT_MEASURES
    from confir.report.result_table import records_table
    from confir.studies.chance.chance import TOPIC_COLUMNS
    from confir.studies.chance.random_baseline import describe_chance

    per_topic = VIEWS.choose(inputs.context, show, topics=topics).name == TOPICS
    if documents is None:
        raise InvalidValueError(
            "expected --documents N, the number of documents that a random ranking would rank; "
            "for example: confir chance qrels.txt bm25.run --documents 528155"
        )
    names = inputs.measure or list(DEFAULT_MEASURES)
    if not inputs.runs:
        of_runs = [name for name in reading_options() if name not in _OF_QRELS]
        reason = "is for runs; none are given"
        refuse_options(inputs.context, ["draws", *of_runs, *CHOOSING, "seed"], reason)
    if relevant is None:
        chance = _of_qrels(inputs, names, documents, draws, seed, quiet=out.quiet)
    elif inputs.qrels is not None:
        raise InvalidValueError("--relevant replaces QRELS; give one or the other")
    else:
        reason = "is for the topics of QRELS; none are given"
        refuse_options(inputs.context, ["show", "topics"], reason)
        chance = describe_chance(documents, relevant, names, depth=inputs.depth, rel=inputs.rel)
    records = chance.to_records(per_topic=per_topic)
    rows, columns = chance.table_records(), chance.table_columns()
    if per_topic:
        rows, columns = records, TOPIC_COLUMNS
    out.deliver(Answer(records, records_table(rows, columns, chance.note(seed)), chance))


def _of_qrels(
    inputs: Inputs, measures: list[str], documents: int, draws: int, seed: int, *, quiet: bool
) -> Chance:
    """Return the random baseline on the topics of the qrels, and how runs compare."""
    from confir.cli.progress import Progress
    from confir.measures.evaluation import evaluate
    from confir.studies.chance.random_baseline import compare_with_chance

    example = "confir chance --documents 1000 --relevant 10"
    if inputs.qrels is None:
        raise InvalidValueError(f"expected QRELS or --relevant R; for example: {example}")
    rules: dict[str, Any] = {"depth": inputs.depth, "rel": inputs.rel}
    if not inputs.runs:
        return compare_with_chance(inputs.qrels, documents=documents, measures=measures, **rules)
    experiment = inputs.experiment(measures, example=example)
    # checks the request before any run is read
    compare_with_chance(experiment.qrels, documents=documents, measures=measures, **rules)
    with nullcontext() if quiet else Progress("reading runs", total=inputs.run_count) as progress:
        evaluate(experiment, progress=progress)
    return compare_with_chance(experiment, documents=documents, draws=draws, rng=seed)
