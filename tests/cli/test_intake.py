"""Files in the shapes of other tools, made up here: each is read right, or refused with what to do."""

import json
import re
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "intake"
CASES = tomllib.loads((FOLDER / "cases.toml").read_text())["case"]
FILES = {path.name for path in (FOLDER / "files").iterdir()}


@pytest.mark.parametrize("case", CASES, ids=[f"{one['file']}: {one['what']}" for one in CASES])
def test_a_file_of_another_tool_is_read_right_or_refused(case, confir_command, tmp_path):
    source = FOLDER / "files" / case["file"]
    given = [case["command"]] if "command" in case else ["evaluate", "--scores"]
    out = tmp_path / "out.json"
    code, _, said = confir_command(*given, source, *case.get("options", []), "-o", out)
    records = json.loads(out.read_text()) if out.exists() else []
    said = re.sub(r"\s+", " ", said)
    if "refused" in case:
        assert code == 2, records
        assert case["refused"] in said
        assert said.count("confir: error:") == 1
        assert len(said) < 900
        return
    assert code == 0, said
    assert case.get("said", "") in said
    if "wins" in case:
        assert {one["run"]: [one["wins"], one["ties"], one["losses"]] for one in records} == case[
            "wins"
        ]
        return
    found = {}
    for one in records:
        found.setdefault(one["run"], {})[one["measure"]] = one["mean"]
    assert found.keys() == case["means"].keys()
    for name, expected in case["means"].items():
        means = (
            list(found[name].values()) if "" in expected else [found[name].get(m) for m in expected]
        )
        assert means == pytest.approx(list(expected.values()), abs=2e-6)
        assert "" in expected or found[name].keys() == expected.keys()


def test_every_file_has_its_case():
    assert {case["file"] for case in CASES} == FILES
