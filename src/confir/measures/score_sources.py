"""The scores that verbs take: what a source holds, or what it is evaluated or fitted to."""

from __future__ import annotations

from typing import Any

from confir.data.experiment import Experiment
from confir.data.run_scores import RunScores
from confir.data.scores import Scores
from confir.errors import InvalidValueError
from confir.measures.evaluation import evaluate
from confir.measures.score_summary import find_summary


def as_scores(source: Any, *, human: bool = False) -> Scores:
    """Return the scores that an object or a file holds, or that an experiment gives.

    Every function of scores calls it: scores that another tool computed are taken as they are.

    Parameters
    ----------
    source
        Scores; an `Experiment`, which is evaluated; a path, or several, as `read_scores` takes
        them; a pandas, polars or Arrow frame with the columns run, measure, topic, score, or topic
        and a column per run; a mapping run → measure → topic → score or run → topic → score; or a
        mapping run → array of scores, all on the same topics, which are then numbered; an array of
        xarray over topic, run and measure. Results of
        other libraries: scores of ``ir_measures.iter_calc``, what pytrec_eval returns, runs of
        ranx after ``ranx.evaluate``, or a mapping run → any of these.
    human
        Whether `JudgedScores`, by a model and a few human judgements, are taken; else they raise.

    Examples
    --------
    >>> confir.as_scores({"bm25": {"AP": {"1": 0.3, "2": 0.5}}}).mean()
    array([[0.4]])
    """
    scores: Any = source if isinstance(source, RunScores) else _scores_of(source)
    if not scores.in_memory:
        raise InvalidValueError(
            f"this needs the score of every topic, which {scores.title} lacks; expected Scores"
        )
    if scores.corrected and not human:
        raise InvalidValueError(
            "the scores are by model and human judgements, which this does not combine; expected those "
            "of one judge (in Python: scores.human or scores.model)"
        )
    found: Scores = scores.filled().in_id_order()
    return found


def _scores_of(source: Any) -> Scores:
    """Return the scores that an experiment gives, or that any other source holds."""
    from confir.data.tables.score_objects import make_scores

    return evaluate(source) if isinstance(source, Experiment) else make_scores(source, "scores")


def as_run_scores(source: Any) -> Any:
    """Return scores of any kind: those given, else what a source holds.

    That is a summary where a table is long, published means where a table has these, strengths where
    there are votes, and what `as_scores` returns of all else.
    """
    if isinstance(source, RunScores):
        return source.filled().in_id_order()
    from confir.data.votes import Votes

    if isinstance(source, Votes):
        from confir.measures.strengths import fit_strengths

        return fit_strengths(source)
    found = read_if_file(source)
    return (_scores_of(source) if found is source else found).in_id_order()


def read_if_file(source: Any) -> Any:
    """Return the scores, published means or summary in a file or frame; any other source as it is."""
    from confir.data.tables.score_files import read_scores_or_means

    return read_scores_or_means(find_summary(source))
