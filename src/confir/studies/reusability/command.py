"""``confir reusability``: would a run that is not in the pool be scored fairly?"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.input_options import JUDGED
from confir.cli.output import Output
from confir.cli.parameters import Option, PathRole, Without
from confir.defaults import LEVEL, POOL_DEPTH
from confir.errors import InvalidValueError

_POOL_PANEL = "Pool"
_EXAMPLE = "confir reusability qrels.txt runs/ --teams teams.txt"


def reusability_command(
    *,
    inputs: Annotated[Inputs, Without("scores", "columns", "bounded", "top", *JUDGED)],
    teams: Annotated[
        str | None,
        Option(
            "The team of each run: lines of run and team.",
            "FILE",
            panel=_POOL_PANEL,
            path=PathRole.READ,
            short=True,
        ),
    ] = None,
    pool_depth: Annotated[
        int,
        Option(
            "Depth of the pool: a team contributes the documents that its runs have down to this "
            "rank.",
            panel=_POOL_PANEL,
            least=1,
        ),
    ] = POOL_DEPTH,
    contributors: Annotated[
        str | None,
        Option(
            "The teams that contributed each document, instead of the pool of these runs: lines of "
            "topic, 0, docid, gain, number of teams, and their names.",
            "FILE",
            panel=_POOL_PANEL,
            path=PathRole.READ,
        ),
    ] = None,
    unjudged: Annotated[
        str | None,
        Option(
            "Also print the lowest and highest left-out mean that judging unjudged documents "
            "could give.",
            panel=options.JUDGEMENTS_PANEL,
            choices=("bounds",),
        ),
    ] = None,
    level: options.LevelOption = LEVEL,
    out: Output,
) -> None:
    """Leave each team out of the pool in turn: what would its runs lose?

    For example:

    - `confir reusability qrels.txt runs/ --teams teams.txt -m AP`
    - `confir reusability qrels.txt runs/ --teams teams.txt --pool-depth 100`
    - `confir reusability qrels.txt runs/ --teams teams.txt -m nDCG@10 -o reusability.svg`
    """
    from confir.cli.answers import result_answer
    from confir.cli.parameters import refuse_options
    from confir.cli.progress import Progress
    from confir.studies.reusability.reusability import estimate_reusability

    experiment = inputs.experiment(example=_EXAMPLE)
    if teams is None:
        raise InvalidValueError(
            f"expected --teams FILE, the team of each run; for example: {_EXAMPLE}"
        )
    if contributors is not None and unjudged is None:
        refuse_options(
            inputs.context,
            ["pool_depth"],
            "is for the pool of these runs; --contributors names who contributed",
        )
    runs = inputs.run_count
    with nullcontext() if out.quiet else Progress("reading runs", total=runs) as progress:
        found = estimate_reusability(
            experiment,
            teams=teams,
            contributors=contributors,
            pool_depth=pool_depth,
            bounds=unjudged is not None,
            level=level,
            progress=progress,
        )
    out.deliver(result_answer(found))
