"""``confir leaderboard --human``: datasets that a model judged, with human judgements of some topics."""

import json

import numpy as np
import pytest

import confir
from confir.data.scores import Scores

RUNS = ("a", "b", "c")


def dataset(number):
    """Scores by a model of 40 topics, with people's of the first."""
    rng = np.random.default_rng([7, number])
    human = 0.4 + rng.normal(0, 0.1, (40, 1)) + rng.normal(0, 0.05, (40, len(RUNS)))
    model = 0.7 * human + 0.05 * number + rng.normal(0, 0.03, human.shape)
    ids = tuple(f"t{place:02}" for place in range(40))
    people = ids[: 8 + 2 * number]
    by_people = Scores(people, RUNS, ("AP",), np.clip(human, 0, 1)[: len(people), :, None])
    by_model = Scores(ids, RUNS, ("AP",), np.clip(model, 0, 1)[:, :, None])
    return by_model.with_human(by_people, "random-topics")


@pytest.fixture(scope="module")
def parts():
    return {f"d{number}": dataset(number) for number in range(4)}


@pytest.fixture
def folders(tmp_path, parts):
    """A folder per dataset with the model's and people's score tables; and both as one table each."""
    whole = {"model": ["dataset,topic,run,score"], "human": ["dataset,topic,run,score"]}
    for name, part in parts.items():
        (tmp_path / name).mkdir()
        for judge in whole:
            own = getattr(part, judge)
            rows = [
                f"{topic},{run},{own.values[t, r, 0]}"
                for t, topic in enumerate(own.topics)
                for r, run in enumerate(own.runs)
            ]
            whole[judge] += [f"{name},{row}" for row in rows]
            text = "\n".join(["topic,run,score", *rows])
            (tmp_path / name / f"{judge}.csv").write_text(text)
    for judge, rows in whole.items():
        (tmp_path / f"{judge}.csv").write_text("\n".join(rows))
    return tmp_path


def test_the_command_reads_folders_and_tables_alike(confir_command, folders, parts):
    names = [folders / name for name in parts]
    sample = ("--human-sample", "random-topics", "--replicates", "199", "--seed", "1")
    json_of = ("--format", "json")
    inside = confir_command("leaderboard", *names, "--human", "human.csv", *sample, *json_of)
    assert inside.code == 0, inside.err
    path = folders / "{dataset}" / "human.csv"
    named = confir_command("leaderboard", *names, "--human", path, *sample, *json_of)
    table = confir_command(
        *("leaderboard", "--scores", folders / "model.csv"),
        *("--human", folders / "human.csv", *sample, *json_of),
    )
    assert inside.out == named.out == table.out
    records = json.loads(inside.out)
    made = {record["run"]: record["macro"] for record in records}
    expected = confir.make_leaderboard(parts, replicates=199, rng=1)
    assert [made[run] for run in expected.runs] == pytest.approx(expected.macro.tolist())
    assert {record["model_topics"] for record in records} == {32, 30, 28, 26}
    words = confir_command("leaderboard", *names, "--human", "human.csv", *sample)
    assert "from 44 topics that people judged and 116 judged by the model alone" in words.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--human", "human.csv"), "--human needs --human-sample"),
        (("--human", "no.csv", "--human-sample", "random-topics"), "no such file"),
        (("--human", "human.csv", "--human-sample", "chosen"), "nothing corrects that"),
    ],
)
def test_errors_are_one_sentence(confir_command, folders, arguments, message):
    outcome = confir_command("leaderboard", folders / "d0", folders / "d1", *arguments)
    assert outcome.code == 2
    assert message in outcome.err


def test_means_have_no_topics_that_people_could_judge(confir_command, folders):
    outcome = confir_command(
        *("leaderboard", "--means", folders / "model.csv", "--human", "x.csv"),
        *("--human-sample", "random-topics"),
    )
    assert "means have no topics" in outcome.err


def test_the_page_shows_the_corrected_board(confir_command, folders, parts):
    names = [folders / name for name in parts]
    page = folders / "board.html"
    outcome = confir_command(
        *("leaderboard", *names, "--human", "human.csv", "--human-sample", "random-topics"),
        *("--replicates", "199", "--page", page),
    )
    assert outcome.code == 0, outcome.err
    text = page.read_text()
    assert "Every dataset" in text
    assert "prediction-powered" in text
