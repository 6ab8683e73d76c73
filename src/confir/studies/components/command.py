"""``confir components``: what the variance of scores is due to, and how reliable they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.output import Output
from confir.cli.parameters import Option, PathRole, Without, refuse_options
from confir.cli.views import View, Views
from confir.defaults import LEVEL, SEED

VIEWS = Views(
    View("components", "the components of the variance, and the reliability", "component"),
    View("reliability", "the reliability alone", "reliability"),
)


def components_command(
    *,
    inputs: Annotated[Inputs, Without("bounded")],
    judge: Annotated[
        list[str] | None,
        Option(
            "Judgements of the same topics by another judge (repeatable).",
            "QRELS",
            path=PathRole.READ,
        ),
    ] = None,
    topics: Annotated[
        list[int] | None,
        Option(
            "Number of topics for which to print the reliability (repeatable); by default the observed "
            "number, half, twice and four times as many.",
            "N",
        ),
    ] = None,
    levels: Annotated[
        list[int] | None,
        Option(
            "Number of judges or repeats for which to print the reliability (repeatable); by default "
            "likewise.",
            "N",
            names=("--others",),
        ),
    ] = None,
    show: Annotated[str | None, VIEWS.option()] = None,
    level: options.LevelOption = LEVEL,
    seed: options.SeedOption = SEED,
    out: Output,
) -> None:
    """Split the variance of scores into systems, topics, judges and repeats: how reliable are they?

    For example:

    - `confir components qrels.txt runs/ -m AP`
    - `confir components qrels.txt runs/ -m AP --judge model.qrels`
    - `confir components qrels.txt runs/ -m AP --repeats --topics 100`
    """
    from confir.cli.answers import Answer
    from confir.cli.selection import check_single
    from confir.measures.evaluation import evaluate
    from confir.report.result_table import result_table
    from confir.report.tables import to_text
    from confir.studies.components.components import decompose_scores
    from confir.studies.components.table import reliability_table

    view = VIEWS.choose(inputs.context, show)
    if judge and inputs.scores:
        refuse_options(inputs.context, ["judge"], "is for QRELS RUN..., not for score tables")
    if not judge and inputs.repeats is None:
        reason = "requires --judge or --repeats"
        refuse_options(inputs.context, ["levels"], reason)
    runs = replace(inputs, repeats=None)  # systems are found in all judges' runs together
    scores = runs.load_scores(quiet=out.quiet, example="confir components qrels.txt runs/ -m AP")
    check_single(scores.measures)
    others: dict[str, Any] = {}
    if judge:
        given = inputs.experiment(
            scores.measures, example="confir components qrels.txt runs/ -m AP"
        )
        rules = given.rules.keywords()
        others = {path: evaluate(path, given.sources, scores.measures, **rules) for path in judge}
    found = decompose_scores(
        scores,
        repeats=options.pattern_of(inputs.repeats) or inputs.repeats is not None,
        judges=others,
        topics=topics,
        levels=levels,
        level=level,
        rng=seed,
    )
    below = reliability_table(found)
    if found.facets:  # whose limits are drawn
        below = replace(below, note=f"{below.note}; seed {seed}")
    if view.name == "reliability":
        out.deliver(Answer(found.coefficient_records(), below, found))
        return
    above = result_table(found)
    table = replace(above, note=f"{above.note}\n\n{to_text(below).rstrip()}")
    out.deliver(Answer(found.to_records(), table, found))
