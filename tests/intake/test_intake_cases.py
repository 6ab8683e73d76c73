"""Files that public repositories hold: read as what they are, or refused.

Each case is a folder of CONFIR_DATA/intake with files and ``case.json``: a command, and what is right.
Means are compared with `expect` (a list of them: any is right), by run and measure or dataset; `votes` and
`wins` by system; `refuse` wants exit 2 with a message, and `either` takes that, too: without `expect` it does
not say what is to be read.
"""

import json
import math
from collections import defaultdict

from cli.conftest import built_once, confir_command

__all__ = ["built_once", "confir_command"]

# What is read though it should be, or refused though it should not: as few as this of all cases.
MOST_REFUSED = 0


def found_means(records, name):
    means = defaultdict(dict)
    for record in records:
        means[record["run"]][record[name]] = record["mean"]
    return means


def same_means(found, expected, tolerance):
    """Whether the same runs have the same means; None stands for a measure of any name."""
    if found.keys() != expected.keys():
        return False
    for run, wanted in expected.items():
        own = found[run]
        if list(wanted) == ["null"] and len(own) == 1:
            own = {"null": next(iter(own.values()))}
        if own.keys() != wanted.keys():
            return False
        for name, mean in wanted.items():
            if not math.isclose(own[name], mean, rel_tol=tolerance, abs_tol=tolerance):
                return False
    return True


def is_right(case, records):
    """Whether the records of a command that succeeded are what the case says."""
    if case.get("refuse"):
        return False
    if "expect" in case:
        expected = case["expect"]
        means = found_means(records, "dataset" if case.get("datasets") else "measure")
        wanted = expected if isinstance(expected, list) else [expected]
        return any(same_means(means, one, case.get("tolerance", 1e-9)) for one in wanted)
    for name in {"votes", "wins"} & case.keys():
        if {record["run"]: record[name] for record in records} != case[name]:
            return False
    return True


def verdict(case, outcome):
    if outcome.code not in (0, 2) or "bug" in outcome.err or "Traceback" in outcome.err:
        return "crash"
    if outcome.code == 2:
        said = outcome.err.strip().startswith("confir: ")
        allowed = case.get("refuse") or case.get("either")
        return ("right" if allowed else "refused") if said else "crash"
    return "right" if is_right(case, json.loads(outcome.out)) else "wrong"


def test_real_files_are_read_as_what_they_are_or_refused(confir_command, real_data):
    found = defaultdict(list)
    for path in sorted((real_data / "intake").glob("*/case.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        words = [word.format(dir=path.parent) for word in case["command"]]
        outcome = confir_command(*words, "--format", "json")
        found[verdict(case, outcome)].append(f"{path.parent.name}: {outcome.err.strip()[-600:]}")
    counts = {name: len(cases) for name, cases in sorted(found.items())}
    print(counts)  # noqa: T201 - what the test is run for
    assert sum(counts.values()) >= 89
    assert not found["crash"] + found["wrong"], counts
    assert len(found["refused"]) <= MOST_REFUSED, (counts, found["refused"])
