"""Models by which effects are pooled."""

from __future__ import annotations

from typing import NamedTuple

from confir.arguments import as_choice
from confir.errors import UnsupportedMethodError
from confir.studies.meta_analysis.tau2 import DERSIMONIAN_LAIRD, PAULE_MANDEL, REML, TAU2_ESTIMATORS

RANDOM, FIXED, STOUFFER = "random", "fixed", "stouffer"
NORMAL, HARTUNG_KNAPP = "normal", "hartung-knapp"


class Model(NamedTuple):
    """A way to pool: the kind of model, and for random effects how τ² and limits are found."""

    kind: str
    tau2: str | None = None
    interval: str = NORMAL

    @property
    def name(self) -> str:
        """Its name in results and options, such as ``reml+hartung-knapp``."""
        if self.tau2 is None:
            return self.kind
        return self.tau2 if self.interval == NORMAL else f"{self.tau2}+{self.interval}"


# Of the random models, this one's intervals covered best in simulations with few studies.
DEFAULT_MODEL = Model(RANDOM, PAULE_MANDEL, HARTUNG_KNAPP)

MODELS = {
    model.name: model
    for model in (
        Model(STOUFFER),
        Model(FIXED),
        *(
            Model(RANDOM, tau2, interval)
            for tau2 in (DERSIMONIAN_LAIRD, PAULE_MANDEL, REML)
            for interval in (NORMAL, HARTUNG_KNAPP)
        ),
    )
}


def choose_model(kind: str, tau2: str | None, interval: str | None) -> Model:
    """Return the model of that kind with the defaults filled in, or that of a name of MODELS."""
    as_choice("model", kind, (RANDOM, *MODELS))
    if tau2 is not None:
        as_choice("tau2", tau2, TAU2_ESTIMATORS, "estimator of τ²")
    if interval is not None:
        as_choice("interval", interval, (NORMAL, HARTUNG_KNAPP))
    if kind == RANDOM:
        return Model(RANDOM, tau2 or DEFAULT_MODEL.tau2, interval or DEFAULT_MODEL.interval)
    if MODELS[kind].kind == RANDOM:
        if tau2 is not None or interval is not None:
            raise UnsupportedMethodError(
                f"the model {kind!r} names its estimator of τ² and its interval; expected neither "
                "tau2 nor interval, or the model 'random'"
            )
        return MODELS[kind]
    if tau2 is not None or interval == HARTUNG_KNAPP:
        raise UnsupportedMethodError(
            f"the model {kind!r} has neither an estimator of τ² nor Hartung-Knapp limits; both are "
            "for the model 'random'"
        )
    return Model(kind)
