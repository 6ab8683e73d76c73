"""Excluded documents, on every command that reads runs."""

import json

import numpy as np
import pytest

TOPICS = [f"t{number:02}" for number in range(20)]
DOCUMENTS = [*TOPICS, *(f"d{number}" for number in range(60))]
COMMANDS = {
    "evaluate": ("-m", "AP"),
    "evaluate --show unjudged --treatment bounds": ("-m", "P@5"),
    "evaluate --show ties --treatment bounds": ("-m", "AP"),
    "compare": ("-m", "AP", "--baseline", "a"),
    "collection": ("-m", "AP", "--replicates", "50"),
    "split-half": ("-m", "AP", "--replicates", "20"),
    "topics": ("-m", "AP"),
    "components": ("-m", "AP"),
    "bias-variance": ("-m", "AP"),
    "coverage": ("-m", "AP", "--samples", "20", "--method", "t"),
    "chance": ("-m", "AP", "--documents", "5000"),
    "plan": ("-m", "AP", "--baseline", "a", "--difference", "0.05"),
    "meta": ("-m", "AP", "--baseline", "a"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Files with the documents and without them, of the same names."""
    rng = np.random.default_rng(8)
    whole, left = (tmp_path_factory.mktemp(name) for name in ("whole", "left"))
    excluded = {topic: ["d1", "d2", "d3"] for topic in TOPICS[::2]}
    for name in ("qrels.txt", "a.run", "b.run"):
        rows = []
        for topic in TOPICS:
            listed = rng.choice(DOCUMENTS, 30, replace=False).tolist()
            if name == "qrels.txt":
                listed = [one for one in listed if one != topic]
                rows += [(topic, one, f"{topic} 0 {one} {rng.integers(0, 2)}\n") for one in listed]
                continue
            scores = rng.integers(0, 20, 31).tolist()
            listed = zip(dict.fromkeys([topic, *listed]), scores, strict=False)
            rows += [(topic, one, f"{topic} Q0 {one} 0 {score} x\n") for one, score in listed]
        kept = [
            line for topic, one, line in rows if one not in excluded.get(topic, ()) and one != topic
        ]
        (whole / name).write_text("".join(line for _, _, line in rows))
        (left / name).write_text("".join(kept))
    (whole / "exclude.json").write_text(json.dumps(excluded))
    return whole, left


@pytest.mark.parametrize("command", COMMANDS)
def test_the_answer_is_that_of_files_without_the_documents(confir_command, folders, command):
    whole, left = folders
    out = ("--format", "json", "--quiet")
    found, expected = (
        confir_command(
            *command.split()[:1],
            *(folder / name for name in ("qrels.txt", "a.run", "b.run")),
            *(*command.split()[1:], *COMMANDS[command], *out, *options),
        )
        for folder, options in (
            (whole, ("--exclude", whole / "exclude.json", "--exclude-identical")),
            (left, ("--no-exclude-identical",)),
        )
    )
    assert (found.code, expected.code) == (0, 0), found.err + expected.err
    assert json.loads(found.out) == json.loads(expected.out)
    assert json.loads(found.out)
