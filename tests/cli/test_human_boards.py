"""``confir leaderboard --human``: datasets that a model judged, with human judgements of some topics."""

import json

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from judge_files import noisy_judge, write_judge
from samples import short_sample

RUNS = ("a", "b", "c")


def dataset(number):
    """Scores of 40 topics by model judgements, and of the first by human judgements."""
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
    """A folder per dataset with score tables by model and by human judgements; and one table of each for all."""
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
    assert "in all, humans judged 44 topics, and the model alone 116" in words.out
    ranks = confir_command(
        "leaderboard", *names, "--human", "human.csv", *sample, "--show", "ranks"
    )
    assert "means are by human judgements" in ranks.out


def test_human_judgements_of_everything_leave_nothing_to_estimate(confir_command, folders, parts):
    names = [folders / name for name in parts]
    for name in parts:
        text = (folders / name / "model.csv").read_text()
        (folders / name / "human.csv").write_text(text)
    outcome = confir_command(
        *("leaderboard", *names, "--human", "human.csv", "--human-sample", "all"),
        *("--replicates", "99"),
    )
    assert "means are by human judgements, of 160 topics in all" in outcome.out


@pytest.fixture
def drawn(tmp_path):
    """Folders of two datasets with model qrels, runs, and human qrels of documents drawn at random."""
    sample = short_sample()
    people = sample.qrels.to_dict()
    model, rng = noisy_judge(people), np.random.default_rng(3)
    for name in ("x", "y"):
        folder = tmp_path / name
        (folder / "people").mkdir(parents=True)
        write_judge(folder / "qrels.txt", model)
        lines = [
            f"{topic} 0 {docid} {people[topic][docid]} {chance}\n"
            for topic, judged in model.items()
            for docid, gain in judged.items()
            if rng.random() < (chance := 0.4 if gain else 0.2)
        ]
        (folder / "people" / "drawn.txt").write_text("".join(lines))
        for run in sample.runs[:3:2]:
            for repeat in (1, 2):
                confir.write_run(run, folder / f"{run.name}@{repeat}.run")
    return tmp_path


@pytest.mark.parametrize("repeats", [(), ("--repeats",)])
def test_documents_drawn_at_random_correct_each_dataset(confir_command, drawn, repeats):
    names = [drawn / "x", drawn / "y"]
    sample = ("--human-sample", "random-documents", "--replicates", "99", "--seed", "1")
    outcome = confir_command(
        *("leaderboard", *names, "--human", "people/drawn.txt", *sample, *repeats)
    )
    assert outcome.code == 0, outcome.err
    assert "drawn at random, and the model's of all" in outcome.out
    assert "people " not in outcome.out.split("\n\n")[1]  # their qrels are no run
    given = {"human_sample": "random-documents", "rng": 1}
    means = [
        confir.evaluate(
            folder / "qrels.txt",
            sorted(folder.glob("*.run")),
            "nDCG@10",
            human=folder / "people" / "drawn.txt",
            **given,
        ).mean()
        for folder in names
    ]
    path = drawn / "{dataset}" / "people" / "drawn.txt"
    records = json.loads(
        confir_command("leaderboard", *names, "--human", path, *sample, "--format", "json").out
    )
    assert max(record["macro"] for record in records) == pytest.approx(np.mean(means, axis=0).max())


def test_a_dataset_with_too_few_judgements_is_named(confir_command, folders):
    path = folders / "d1" / "human.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:4]))
    sample = ("--human-sample", "random-topics")
    inside = confir_command(
        "leaderboard", folders / "d0", folders / "d1", "--human", "human.csv", *sample
    )
    assert "dataset 'd1': the model judged 1 human-judged topic;" in inside.err


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


def test_means_have_no_topics_for_human_judgement(confir_command, folders):
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
    assert "3 runs on 4 datasets</h1>" in text
    assert "prediction-powered" in text
