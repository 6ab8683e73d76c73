"""How far can an information-retrieval evaluation score be trusted?

The way from files to answers::

    Experiment                     qrels, runs, and the rules for reading them, read once
    evaluate                       Experiment -> Scores, of runs × measures × topics
    confidence_interval            Scores -> Interval: how far can a mean be trusted?
    find_best, rank_runs           Scores -> which runs may be the best, and their ranks
    compare_runs, judge_gate       Scores -> differences and verdicts; may a run be released?
    plan_topics                    pilot Scores -> how many topics are needed
    chart, save_chart              a result -> altair chart -> SVG, PDF or PNG
    write_report                   Experiment or Scores -> one HTML page

Functions of an Experiment also take qrels and runs; functions of Scores also take an Experiment. Other
questions have functions of their own: ``dir(confir)`` names all, and ``__init__.pyi`` is the one list of
them. Nouns (Experiment, Run, Qrels, Scores, Design, Interval) and results are immutable; the classes of
results are in `confir.results`, errors in `confir.errors`, assertions for pytest in `confir.testing`.
MEASURES and METHODS list measures and interval methods.
"""

from __future__ import annotations

from confir.lazy_names import listed_names, load_name

_STUB, _RESULTS = "__init__.pyi", "results.pyi"

# Where else to look for names that were public here.
_MOVED = {
    "Study": "confir.studies.Study",
    "share_sequence": "confir.studies.preferences.early_looks.share_sequence",
    "qrels_to_frame": "Qrels.to_frame, after confir.as_qrels",
    "run_to_frame": "Run.to_frame, after confir.as_run",
    "write_json_qrels": "confir.write_qrels, to a path that ends with .json",
    "write_json_run": "confir.write_run, to a path that ends with .json",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("confir")
    if name == "__all__":
        return _public_names()
    if name.startswith("_") or name not in listed_names(_STUB):
        raise AttributeError(f"module 'confir' has no attribute {name!r}{_hint(name)}")
    globals()[name] = value = load_name(_STUB, name)
    return value


def __dir__() -> list[str]:
    return [*listed_names(_STUB), "__version__"]


def _public_names() -> list[str]:
    """Return the functions, nouns and lists of the stub: what is no module of confir itself."""
    return [name for name, home in listed_names(_STUB).items() if home != "confir"]


def _hint(name: str) -> str:
    """Return where a name that was here is now."""
    if name in listed_names(_RESULTS):
        return f"; it is confir.results.{name}"
    return f"; it is {_MOVED[name]}" if name in _MOVED else ""
