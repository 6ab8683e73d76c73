"""JSON of every command against ``confir schema``, and provenance files next to outputs."""

import dataclasses
import hashlib
import json
import os
from types import SimpleNamespace

import pytest
from jsonschema import Draft202012Validator

from cli.json_outputs import JSON_OUTPUTS, write_files
from confir.cli.commands import COMMANDS
from confir.cli.provenance import Provenance
from confir.cli.schema import schema_text
from confir.errors import UnreadableError
from confir.studies import Shown, Study

SCHEMA = json.loads(schema_text())
# Not kinds of records, but what they are made of; and the file of --provenance.
PARTS = {"column", "file", "provenance"}


def validator(kind):
    """What checks one value against a kind of the schema."""
    return Draft202012Validator(
        {**SCHEMA, "$ref": f"#/$defs/{kind}", "type": "object", "items": {}}
    )


@pytest.fixture(scope="module")
def names(sample_files, tmp_path_factory):
    """The files that commands read, by name."""
    return write_files(tmp_path_factory.mktemp("files"), sample_files)


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
@pytest.mark.parametrize("kind", JSON_OUTPUTS)
def test_json_is_as_the_schema_says(confir_command, names, kind):
    known = SCHEMA["$defs"][kind]["properties"].keys()
    check = validator(kind)
    for words in JSON_OUTPUTS[kind]:
        given = [word.format(**names) for word in words]
        outcome = confir_command(*given, "--format", "json")
        assert outcome.code == 0, (given, outcome.err)
        records = json.loads(outcome.out, parse_constant=pytest.fail)
        assert records
        for record in records:
            check.validate(record)
            assert record.keys() <= known
        Draft202012Validator(SCHEMA).validate(records[:3])  # compares each with every kind


def test_every_command_that_prints_records_is_among_these():
    printing = {words[0] for cases in JSON_OUTPUTS.values() for words in cases}
    assert printing == COMMANDS.keys() - {"report", "schema", "completion"}
    assert JSON_OUTPUTS.keys() == SCHEMA["$defs"].keys() - PARTS
    listed = {one["$ref"].rpartition("/")[2] for one in SCHEMA["items"]["anyOf"]}
    assert listed == JSON_OUTPUTS.keys()


def test_every_view_names_its_kinds_of_records_and_each_is_tried():
    views = {command: set(kinds) for command, kinds in SCHEMA["views"].items()}
    assert {"evaluate", "compare", "collection", "judges", "topics", "components"} <= views.keys()
    for command, kinds in SCHEMA["views"].items():
        for view, names in kinds.items():
            tried = {kind for kind, cases in JSON_OUTPUTS.items() for c in cases if c[0] == command}
            assert set(names) <= tried, (command, view)
    assert SCHEMA["views"]["compare"]["best"] == ["best"]


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
@pytest.mark.parametrize("runs", [2, 3])
def test_records_follow_the_view_and_not_the_number_of_runs(confir_command, names, runs):
    given = ("compare", names["qrels"], *(names[run] for run in ("bm25", "dense", "tfidf")[:runs]))
    given = (*given, "-m", "AP", "--replicates", "99", "--quiet", "--format", "json")
    fields = {
        view: [set(record) for record in json.loads(confir_command(*given, *words).out)]
        for view, words in {
            "best": (),
            "difference": ("--show", "pairs"),
            "difference with a baseline": ("--baseline", "bm25"),
        }.items()
    }
    assert [len(rows) for rows in fields.values()] == [runs, runs * (runs - 1) // 2, runs - 1]
    for view, rows in fields.items():
        kind = SCHEMA["$defs"][view.split()[0]]
        assert all(row == set(kind["required"]) for row in rows)


def test_a_result_of_a_study_has_its_kind_of_records_without_further_lines(monkeypatch):
    from confir import studies
    from confir.cli import schema

    trial = Study("nuggets", "?", ("", ""), results={"nugget_variance.NuggetVariance": Shown()})
    trial = dataclasses.replace(trial, commands=("trial",))
    monkeypatch.setattr(schema, "STUDIES", (*studies.STUDIES, trial))
    monkeypatch.setattr(schema, "declared_views", lambda: iter(()))
    kind = json.loads(schema.schema_text())["$defs"]["trial"]
    assert kind["title"].startswith("confir trial: ")
    assert kind["required"] == list(kind["properties"])
    assert kind["properties"]["run"] == {"$ref": "#/$defs/column/run"}
    assert kind["properties"]["nugget_variance"]["type"] == ["number", "null"]


def test_the_schema_is_one_and_describes_every_field(confir_command):
    outcome = confir_command("schema")
    assert (outcome.code, json.loads(outcome.out)) == (0, SCHEMA)
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"].endswith(f":{SCHEMA['version']}")
    used = set()
    for kind in JSON_OUTPUTS:
        for name, field in SCHEMA["$defs"][kind]["properties"].items():
            if "$ref" in field:
                assert field["$ref"] == f"#/$defs/column/{name}"
                used.add(name)
            else:
                assert field["description"].endswith(".")
    columns = SCHEMA["$defs"]["column"]
    assert used == columns.keys()
    assert all(column["description"].endswith(".") for column in columns.values())


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("difference", {"verdict": "good"}),
        ("difference", {"difference": "0.1"}),
        ("difference", {"run": None}),
        ("difference", {"topics": 1.5}),
        ("look", {"decision": "maybe"}),
        ("look", {"arrived": {"7": 2}}),
    ],
)
def test_the_schema_finds_what_is_wrong(confir_command, names, kind, change):
    words = [word.format(**names) for word in JSON_OUTPUTS[kind][-1]]
    record = json.loads(confir_command(*words, "--format", "json", "--quiet").out)[0]
    check = validator(kind)
    assert check.is_valid(record)
    assert not check.is_valid(record | change)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_provenance_names_version_seed_command_and_digests(confir_command, names, tmp_path):
    output = tmp_path / "means.csv"
    given = ("evaluate", names["qrels"], f"mine={names['bm25']}", names["dense"], "-m", "AP")
    outcome = confir_command(*given, "--seed", 7, "-o", output, "--provenance", "--quiet")
    assert outcome.code == 0, outcome.err
    record = json.loads((tmp_path / "means.csv.provenance.json").read_text())
    validator("provenance").validate(record)
    assert record.keys() == SCHEMA["$defs"]["provenance"]["properties"].keys()
    assert record["seed"] == 7
    assert record["command"].endswith(f"-m AP --seed 7 -o {output} --provenance --quiet")
    read = [names["qrels"], names["bm25"], names["dense"]]
    assert [(one["path"], one["sha256"]) for one in record["inputs"]] == [
        (str(path), digest(path)) for path in read
    ]
    assert record["outputs"] == [
        {"path": str(output), "bytes": output.stat().st_size, "sha256": digest(output)}
    ]
    assert sorted(os.listdir(tmp_path)) == ["means.csv", "means.csv.provenance.json"]


def test_a_closed_gate_has_a_provenance_and_its_history_is_an_input(
    confir_command, names, tmp_path
):
    history = tmp_path / "history.jsonl"
    for commit in ("c1", "c2"):
        outcome = confir_command(
            *("compare", names["qrels"], names["bm25"], names["tfidf"], "--baseline", "bm25"),
            *("--fail-if-worse", "AP", "-m", "AP", "--history", history, "--commit", commit),
            *("-o", tmp_path / "gate.md", "--provenance", "--quiet"),
        )
        assert outcome.code == 1
        record = json.loads((tmp_path / "gate.md.provenance.json").read_text())
        paths = [one["path"] for one in record["inputs"]]
        assert (str(history) in paths) is (commit == "c2")
        assert "bm25" not in paths


def test_nothing_is_written_where_a_command_fails(confir_command, names, tmp_path):
    given = ("evaluate", names["qrels"], tmp_path / "nowhere.run", "-o", tmp_path / "x.csv")
    assert confir_command(*given, "--provenance").code == 2
    assert not list(tmp_path.iterdir())


def test_no_provenance_of_an_earlier_output_stays(confir_command, names, tmp_path, monkeypatch):
    output, beside = tmp_path / "x.csv", tmp_path / "x.csv.provenance.json"
    given = ("evaluate", names["qrels"], names["bm25"], "-o", output, "--provenance", "--quiet")
    assert confir_command(*given, "-m", "AP").code == 0
    before = output.read_bytes()
    older = beside.read_bytes()
    assert confir_command(*given, "-m", "nonsense").code == 2  # nothing was written: both stay
    assert (output.read_bytes(), beside.read_bytes()) == (before, older)

    def full(path, _):
        raise UnreadableError(f"{path}: cannot be written (No space left on device)")

    monkeypatch.setattr("confir.cli.provenance.write_whole", full)
    refused = confir_command(*given, "-m", "P@5")
    assert refused.code == 2
    assert refused.err.endswith(
        "x.csv.provenance.json: cannot be written (No space left on device)\n"
    )
    assert output.read_bytes() != before
    assert not beside.exists()


def test_a_command_that_fails_after_its_output_leaves_no_earlier_provenance(tmp_path):
    output, beside = tmp_path / "x.csv", tmp_path / "x.csv.provenance.json"
    context = SimpleNamespace(params={"output": str(output)})

    def interrupted(write):
        with Provenance(str(beside), context, []):
            write()
            raise KeyboardInterrupt

    for write, stays in ((lambda: None, True), (lambda: output.write_text("new"), False)):
        beside.write_text("{}")
        with pytest.raises(KeyboardInterrupt):
            interrupted(write)
        assert beside.exists() is stays


def test_provenance_needs_an_output_and_replaces_no_input(confir_command, names, tmp_path):
    given = ("evaluate", names["qrels"], names["bm25"], "-m", "AP", "--provenance", "--quiet")
    outcome = confir_command(*given)
    assert outcome.code == 2
    assert "--provenance is written beside an output; expected -o FILE" in outcome.err
    table = tmp_path / "x.csv.provenance.json"
    table.write_text('{"a": {"AP": {"1": 0.5, "2": 0.6}}}')
    outcome = confir_command(
        *("evaluate", "--scores", table, "-o", tmp_path / "x.csv", "--provenance")
    )
    assert "the command reads this file" in outcome.err
    assert json.loads(table.read_text()) == {"a": {"AP": {"1": 0.5, "2": 0.6}}}


def test_what_is_no_file_has_no_digest(confir_command, names, tmp_path, monkeypatch):
    import io
    import sys

    class Stream:
        buffer = io.BytesIO(names["qrels"].read_bytes())

        def fileno(self):
            raise OSError

    monkeypatch.setattr(sys, "stdin", Stream())
    given = ("evaluate", "-", names["bm25"], "-m", "AP", "-o", tmp_path / "x.json")
    outcome = confir_command(*given, "--provenance", "--quiet")
    assert outcome.code == 0, outcome.err
    record = json.loads((tmp_path / "x.json.provenance.json").read_text())
    assert record["inputs"][0] == {"path": "-", "bytes": None, "sha256": None}


def test_simulated_scores_and_pages_have_a_provenance(confir_command, names, tmp_path):
    made = tmp_path / "made.csv"
    given = ("simulate", "--scores", names["scores"], "-o", made, "--provenance", "--quiet")
    assert confir_command(*given).code == 0
    assert confir_command("measures", "-o", tmp_path / "m.json", "--provenance").code == 0
    page = tmp_path / "page.html"
    given = ("report", "--scores", names["scores"], "-o", page, "--provenance", "--quiet")
    assert confir_command(*given, "--replicates", 99).code == 0
    for name in ("made.csv", "m.json", "page.html"):
        record = json.loads((tmp_path / f"{name}.provenance.json").read_text())
        validator("provenance").validate(record)
    assert [one["path"] for one in record["inputs"]] == [str(names["scores"])]
