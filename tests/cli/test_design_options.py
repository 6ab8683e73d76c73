"""``--design`` and ``confir leaderboard`` as a user runs them."""

import json
import re

import pytest

import confir
from confir.cli.schema import schema_text
from requirements import required
from samples import short_sample


@pytest.fixture
def topics(sample_files, tmp_path):
    """A design of the sample collection's topics: conversations and traffic."""
    names = confir.read_qrels(sample_files / "qrels.txt").topics
    path = tmp_path / "topics.csv"
    rows = [f"{topic},c{place // 4},{1 + place % 3}" for place, topic in enumerate(names)]
    path.write_text("topic,conversation,traffic\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def files(sample_files):
    """Qrels and three runs."""
    names = ("bm25", "dense", "tfidf")
    return [sample_files / "qrels.txt", *(sample_files / "runs" / f"{n}.txt" for n in names)]


@pytest.fixture
def folders(tmp_path):
    """Three datasets, each a part of the sample collection in a folder of its own."""
    sample = short_sample()
    qrels = sample.qrels.to_dict()
    for number, name in enumerate(("alpha", "<script>", "gamma")):
        own = sample.qrels.topics[number::3]
        folder = tmp_path / "beir" / name.replace("/", "")
        folder.mkdir(parents=True)
        confir.write_qrels(confir.as_qrels({t: qrels[t] for t in own}), folder / "qrels.test.txt")
        for run in sample.runs[:3:2] + sample.runs[4:5]:
            lists = run.to_dict()
            part = {topic: lists[topic] for topic in own if topic in lists}
            confir.write_run(confir.as_run(part, name=run.name), folder / f"{run.name}.run")
    return sorted((tmp_path / "beir").iterdir())


def test_design_prints_what_the_topics_are_worth(confir_command, files, topics):
    outcome = confir_command(
        "evaluate", *files, "-m", "AP", "--design", topics, "--cluster", "conversation"
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert (
        "95% confidence interval (CI) by logit-t, over 50 topics; 50 topics in 13 clusters: as precise as"
        in outcome.out
    )
    assert "independent topics" in outcome.out


def test_records_have_the_effective_topics_by_a_design_alone(confir_command, files, topics):
    plain = json.loads(confir_command("evaluate", *files, "-m", "AP", "--format", "json").out)
    assert "effective_topics" not in plain[0]
    designed = confir_command(
        *("evaluate", *files, "-m", "AP", "--format", "json", "--design", topics),
        *("--cluster", "conversation", "--weight", "traffic"),
    )
    records = json.loads(designed.out)
    scores = confir.evaluate(
        files[0], files[1:], "AP", design=topics, cluster="conversation", weight="traffic"
    )
    assert records == confir.confidence_interval(scores).to_records()
    assert records[0].keys() <= json.loads(schema_text())["$defs"]["mean"]["properties"].keys()


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "--baseline", "bm25", "--fail-if-worse", "AP"),
        ("compare", "--show", "best"),
        ("compare", "--show", "groups"),
        ("compare", "--show", "ranks"),
        ("plan", "--baseline", "bm25", "--difference", "0.05"),
        ("coverage", "--samples", "20", "--replicates", "20"),
        ("topics",),
        ("evaluate", "--show", "unjudged", "--treatment", "bounds"),
        ("evaluate", "--show", "ties", "--treatment", "expected"),
    ],
)
def test_commands_take_a_design(confir_command, files, topics, arguments):
    command, *more = arguments
    outcome = confir_command(
        *(command, *files, "-m", "AP", *more),
        *("--design", topics, "--cluster", "conversation"),
    )
    assert outcome.code in (0, 1), outcome.err
    assert "Traceback" not in outcome.err
    plain = confir_command(command, *files, "-m", "AP", *more)
    if command in ("plan", "coverage"):
        assert outcome.out != plain.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("collection", "--replicates", "100"),
        ("bias-variance",),
        ("type-one", "--topics", "5", "--samples", "9"),
        ("chance", "--documents", "10000"),
        ("meta",),
    ],
)
def test_other_commands_refuse_a_design(confir_command, files, topics, arguments):
    command, *more = arguments
    outcome = confir_command(
        *(command, *files, "-m", "AP", *more), *("--design", topics, "--cluster", "conversation")
    )
    assert outcome.code == 2
    assert re.search("expected (no design|plain scores)", outcome.err)
    assert outcome.err.count("\n") == 1


def test_score_tables_take_a_design(confir_command, files, topics, tmp_path):
    table = tmp_path / "scores.csv"
    confir.write_scores(confir.evaluate(files[0], files[1:], "AP"), table)
    outcome = confir_command(
        "evaluate", "--scores", table, "--design", topics, "--cluster", "conversation"
    )
    assert outcome.code == 0
    assert "13 clusters" in outcome.out


def test_columns_without_a_design_and_wrong_designs_are_named(confir_command, files, topics):
    outcome = confir_command("evaluate", *files, "--cluster", "conversation")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "cluster requires a design of the topics" in outcome.err
    outcome = confir_command("evaluate", *files, "--design", topics, "--cluster", "conv")
    assert "known: topic, conversation, traffic" in outcome.err
    outcome = confir_command("evaluate", *files, "--design", "nowhere.csv")
    assert outcome.code == 2
    outcome = confir_command("compare", *files, "--design", topics, "--test", "sign", "-m", "AP")
    assert outcome.code == 2


def test_leaderboard_of_folders(confir_command, folders):
    outcome = confir_command("leaderboard", *folders, "--format", "json", "--replicates", "199")
    assert outcome.code == 0, outcome.err
    records = json.loads(outcome.out)
    assert {record["dataset"] for record in records} == {"alpha", "<script>", "gamma"}
    assert len(records) == 9
    assert {record["measure"] for record in records} == {"nDCG@10"}
    assert {record["sampling"] for record in records} == {"fixed"}


def test_leaderboard_in_words(confir_command, folders):
    outcome = confir_command("leaderboard", *folders, "--replicates", "199", "-m", "AP")
    assert "for conclusions about these datasets" in outcome.out
    random = confir_command(
        "leaderboard", *folders, "--replicates", "199", "--generalise-to", "similar"
    )
    assert "for conclusions about datasets like these" in random.out


def test_leaderboard_of_one_table_with_a_dataset_column(confir_command, tmp_path):
    table = tmp_path / "scores.csv"
    lines = ["dataset,topic,run,measure,score"]
    for dataset, size in (("x", 5), ("y", 6)):
        for topic in range(size):
            lines += [
                f"{dataset},{topic},{r},AP,{0.1 * topic + 0.1 * k}" for k, r in enumerate("ab")
            ]
    table.write_text("\n".join(lines) + "\n")
    outcome = confir_command("leaderboard", table, "--replicates", "99", "--format", "json")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    assert [record["topics"] for record in json.loads(outcome.out)] == [5, 6, 5, 6]
    other = tmp_path / "other.csv"
    other.write_text(table.read_text().replace("dataset", "Task", 1))
    named = confir_command(
        *("leaderboard", other, "--dataset", "task", "--replicates", "99", "--format", "json")
    )
    assert named.out == outcome.out
    assert "no column 'dataset'" in confir_command("leaderboard", other).err
    rows = [f"{d},{t},{'uv'[t % 2]}" for d, n in (("x", 5), ("y", 6)) for t in range(n)]
    design = tmp_path / "design.csv"
    design.write_text("dataset,topic,session\n" + "\n".join(rows) + "\n")
    arguments = ("leaderboard", table, "--replicates", "99", "--design", design)
    clustered = confir_command(*arguments, "--cluster", "session")
    assert "by the design, 11 topics in 4 clusters in 2 datasets" in clustered.out
    design.write_text("\n".join(design.read_text().splitlines()[:6]) + "\n")
    assert "lacks 1 dataset (y)" in confir_command(*arguments, "--cluster", "session").err
    refused = confir_command("leaderboard", table, "--cluster", "session").err
    assert "--cluster requires --design, the table" in refused


def test_leaderboard_of_means(confir_command, tmp_path):
    table = tmp_path / "means.csv"
    table.write_text("dataset,a,b\nx,0.5,0.6\ny,0.4,0.7\nz,0.1,0.3\n")
    outcome = confir_command("leaderboard", table, "--replicates", "99")
    assert outcome.code == 0, outcome.err
    assert "datasets have no intervals" in outcome.out
    named = tmp_path / "named.csv"
    named.write_text("topic,a,b\nx,0.5,0.6\ny,0.4,0.7\nz,0.1,0.3\n")
    assert confir_command("leaderboard", "--means", named, "--replicates", "99").out == outcome.out
    refused = confir_command("leaderboard", "--means", named, "--generalise-to", "these")
    assert refused.code == 2
    assert "expected datasets 'random'" in refused.err


def test_bad_folders_are_named(confir_command, folders, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, said in (
        ((), "expected DIR..."),
        ((folders[0], empty), "the folder is empty"),
        ((folders[0], tmp_path / "nowhere"), "no such folder"),
        ((folders[0],), "there is one dataset"),
        ((*folders, "--qrels", "other"), "no file 'other'"),
        ((*folders, "-m", "AP", "-m", "RR"), "one measure"),
    ):
        outcome = confir_command("leaderboard", *arguments)
        assert outcome.code == 2
        assert said in outcome.err
    (folders[0] / "qrels.more").write_text("1 0 d 1\n")
    assert "several qrels files" in confir_command("leaderboard", *folders).err
    named = confir_command("leaderboard", *folders, "--qrels", "qrels.test.txt", "--quiet")
    assert named.code == 0, named.err  # the second qrels file is no run


def test_leaderboard_page_has_its_part(confir_command, folders, tmp_path):
    required("altair")
    page = tmp_path / "board.html"
    outcome = confir_command(
        "leaderboard", *folders, "--replicates", "99", "--page", page, "--quiet"
    )
    assert outcome.code == 0, outcome.err
    text = page.read_text()
    assert 'id="datasets"' in text
    assert "datasets" in text
    assert "&lt;script&gt;" in text


@pytest.fixture
def repeated(sample_files, tmp_path):
    """Three repeats of two systems: the runs of the sample with other scores of their documents."""
    runs = []
    for system in ("bm25", "dense"):
        lists = confir.read_run(sample_files / "runs" / f"{system}.txt").to_dict()
        for repeat in range(1, 4):
            path = tmp_path / f"{system}@{repeat}.run"
            moved = {
                topic: {
                    doc: 1.0 / (place + 1 + 7 * (place % 5 == repeat))
                    for place, doc in enumerate(docs)
                }
                for topic, docs in lists.items()
            }
            confir.write_run(confir.as_run(moved, name="x"), path)
            runs.append(path)
    return [sample_files / "qrels.txt", *runs]


def test_repeats_are_one_system_when_asked(confir_command, repeated):
    outcome = confir_command("evaluate", *repeated, "-m", "AP", "--repeats", "--format", "json")
    assert outcome.code == 0, outcome.err
    records = json.loads(outcome.out)
    assert [record["system"] for record in records] == ["dense", "bm25"]
    assert {record["repeats"] for record in records} == {3}
    plain = confir_command("evaluate", *repeated, "-m", "AP", "--format", "json")
    assert len(json.loads(plain.out)) == 6
    against = confir_command("evaluate", *repeated, "-m", "AP", "--repeats", "--baseline", "bm25")
    assert "difference from bm25" in against.out
    assert "more topics" in against.out
    topics = confir_command(
        "evaluate", *repeated, "-m", "AP", "--repeats", "-q", "--format", "json"
    )
    assert {record["run"] for record in json.loads(topics.out)} == {"bm25", "dense"}
    board = confir_command("compare", *repeated, "-m", "AP", "--repeats", "--format", "json")
    assert {record["run"] for record in json.loads(board.out)} == {"bm25", "dense"}
    refused = confir_command("evaluate", *repeated, "--repeats", "--method", "gaffke")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_components_with_repeats_and_judges(confir_command, repeated, files):
    outcome = confir_command("components", *repeated, "-m", "AP", "--repeats")
    assert outcome.code == 0, outcome.err
    assert "systems × topics" in outcome.out
    assert "Eρ²" in outcome.out
    records = json.loads(
        confir_command(
            *("components", *files, "-m", "AP", "--judge", files[0], "--show", "reliability"),
            *("--format", "json", "--topics", "10", "--topics", "20", "--others", "1"),
        ).out
    )
    assert [(record["topics"], record["judges"]) for record in records] == [(10, 1), (20, 1)]
    alike = ("components", *repeated, "-m", "AP", "--repeats", "--judge", repeated[0])
    both = json.loads(confir_command(*alike, "--depth", "3", "--format", "json").out)
    assert len(both) == 11  # judges alike, read by the same rules, have no variance
    assert sum(record["variance"] for record in both if "judges" in record["source"]) < 1e-20
    alone = confir_command("components", *files, "-m", "AP", "--others", 7)
    assert (alone.code, alone.out) == (2, "")
    assert "--others requires --judge or --repeats" in alone.err
    several = confir_command("components", *files, "-m", "AP,RR")
    assert "by 2 measures (AP, RR); name one of them with -m" in several.err


def test_measures_are_listed_or_compared(confir_command, files):
    listed = confir_command("measures")
    assert listed.out.startswith("measure ")
    compared = confir_command("measures", "--power", *files, "-m", "AP,RR,P@10", "--format", "json")
    assert {record["measure"] for record in json.loads(compared.out)} == {"AP", "RR", "P@10"}
    assert "are for --power" in confir_command("measures", *files).err
    for option in (("-m", "AP"), ("--level", ".9"), ("--top", 3), ("--seed", 5)):
        refused = confir_command("measures", *option)
        assert refused.code == 2
        assert "has no effect without --power" in refused.err


def test_each_subset_of_predictions_is_a_dataset(confir_command, tmp_path):
    folder = tmp_path / "Task"
    folder.mkdir()
    lists = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}, "3": {"a": 1.0, "c": 0.5}}
    for model, subsets in {"x": ("de", "en"), "y": ("en", "de")}.items():
        held = {subset: {"test": lists} for subset in subsets}
        held["en"] = (
            {"test": {topic: {"z": 1.0} for topic in lists}} if model == "y" else held["en"]
        )
        (folder / f"{model}.json").write_text(json.dumps({"mteb_model_meta": {}, **held}))
    for subset in ("de", "en"):
        (folder / f"qrels.{subset}.tsv").write_text(
            "query-id\tcorpus-id\tscore\n1\ta\t1\n2\tc\t1\n3\tc\t1\n"
        )
    given = ("leaderboard", folder, "--replicates", 99, "--format", "json")
    outcome = confir_command(*given, "--qrels", "qrels.{subset}.tsv", "-m", "RR")
    assert outcome.code == 0, outcome.err
    means = {(one["run"], one["dataset"]): one["mean"] for one in json.loads(outcome.out)}
    assert means["x", "Task/de"] == means["y", "Task/de"] == pytest.approx(2.5 / 3)
    assert (means["x", "Task/en"], means["y", "Task/en"]) == (pytest.approx(2.5 / 3), 0.0)
    assert "several qrels files" in confir_command(*given).err
    assert (
        "no file 'qrels.{split}.csv'" in confir_command(*given, "--qrels", "qrels.{split}.csv").err
    )


def test_results_of_mteb_are_a_leaderboard_of_means(confir_command, tmp_path):
    files = []
    for model, place in (("a", 0.1), ("b", 0.2)):
        (tmp_path / model).mkdir()
        (tmp_path / model / "model_meta.json").write_text(json.dumps({"name": f"org/{model}"}))
        for task in range(3):
            entries = [{"hf_subset": s, "main_score": place + task / 10} for s in ("en", "de")]
            held = {"mteb_version": "2", "task_name": f"T{task}", "scores": {"test": entries}}
            files += ["--means", tmp_path / model / f"T{task}.json"]
            files[-1].write_text(json.dumps(held))
    outcome = confir_command(
        "leaderboard", *files, "--replicates", 99, "--format", "json", "--quiet"
    )
    assert outcome.code == 0, outcome.err
    board = json.loads(outcome.out)
    assert {one["dataset"] for one in board} == {"T0", "T1", "T2"}
    assert {one["run"] for one in board if one["rank"] == 1} == {"org/b"}
    folder = ("--means", tmp_path, "--replicates", 99, "--format", "json")
    found = confir_command("leaderboard", *folder)
    assert (found.code, found.err) == (0, "")
    assert json.loads(found.out) == board
    assert {one["measure"] for one in board} == {"main_score"}
    refused = confir_command("leaderboard", *folder, "-m", "nDCG@10")
    assert (refused.code, "no result by 'nDCG@10'" in refused.err) == (2, True)
    (tmp_path / "empty").mkdir()
    wrong = confir_command("leaderboard", "--means", tmp_path / "empty").err
    assert "no file .json below it; expected results of MTEB" in wrong


def write_results(folder, **models):
    """Write results of MTEB: model → task → keys and values of the test split, or of several splits."""
    for model, tasks in models.items():
        for task, held in tasks.items():
            splits = held if "main_score" not in held else {"test": held}
            scores = {split: [{"hf_subset": "default", **one}] for split, one in splits.items()}
            written = {"mteb_version": "2", "task_name": task, "scores": scores}
            path = folder / model / "external" / f"{task}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(written))
    return folder


def test_main_scores_of_different_measures_are_named_by_dataset(confir_command, tmp_path):
    folder = write_results(
        tmp_path,
        **{
            model: {
                "R": {"ndcg_at_10": score, "recall_at_100": score + 0.4, "main_score": score},
                "C": {"accuracy": score + 0.2, "f1": score, "main_score": score + 0.2},
            }
            for model, score in {"x": 0.3, "y": 0.4}.items()
        },
    )
    given = ("leaderboard", "--means", folder, "--replicates", "99")
    shown = " ".join(confir_command(*given).out.split())
    assert "mean main_score over 2 datasets" in shown
    assert "main_score is accuracy of C; nDCG@10 of R" in shown
    records = json.loads(confir_command(*given, "--format", "json").out)
    assert {(one["dataset"], one["dataset_measure"]) for one in records} == {
        ("C", "accuracy"),
        ("R", "nDCG@10"),
    }
    assert {one["run"] for one in records} == {"x", "y"}  # by their folders
    refused = confir_command(*given, "-m", "R@100")
    assert (refused.code, refused.out) == (2, "")
    assert "no measure 'R@100' on 1 dataset (C)" in " ".join(refused.err.split())
    refused = confir_command(*given, "-m", "foo")
    assert "no result by 'foo'; expected one of" in " ".join(refused.err.split())


def test_evaluate_reads_the_measure_that_is_named_of_results(confir_command, tmp_path):
    held = {"ndcg_at_10": 0.3, "recall_at_100": 0.9, "accuracy": 0.5, "main_score": 0.3}
    folder = write_results(tmp_path, x={"A": held, "B": held | {"recall_at_100": 0.7}})
    files = [word for t in "AB" for word in ("--scores", folder / "x" / "external" / f"{t}.json")]
    for given, mean in ((files[:2], 0.9), (files, 0.8)):
        found = confir_command("evaluate", *given, "-m", "R@100,accuracy", "--format", "json")
        means = {one["measure"]: one["mean"] for one in json.loads(found.out)}
        assert means == pytest.approx({"R@100": mean, "accuracy": 0.5})
        refused = confir_command("evaluate", *given, "-m", "AP")
        assert (refused.code, "no result by 'AP'" in refused.err) == (2, True)
    found = confir_command("evaluate", *files, "--format", "json")
    assert {one["measure"] for one in json.loads(found.out)} == {"nDCG@10"}


def test_split_and_subset_choose_among_results(confir_command, tmp_path):
    splits = {
        "test": {"main_score": 0.5, "f1": 0.5},
        "dev": {"main_score": 0.1, "f1": 0.1},
    }
    folder = write_results(tmp_path, x={"A": splits, "B": splits}, y={"A": splits, "B": splits})
    given = ("leaderboard", "--means", folder, "--replicates", "99", "--format", "json")
    for options, mean in (((), 0.5), (("--split", "dev"), 0.1)):
        records = json.loads(confir_command(*given, *options).out)
        assert {one["mean"] for one in records} == {mean}
        assert {one["measure"] for one in records} == {"f1"}
    refused = confir_command(*given, "--split", "train")
    assert "no split 'train' on 2 datasets (A, B)" in " ".join(refused.err.split())
    refused = confir_command(*given, "--subset", "en")
    assert "no subset 'en' on 2 datasets (A, B)" in " ".join(refused.err.split())
    table = tmp_path / "t.csv"
    table.write_text("model,x,y\na,0.1,0.2\nb,0.3,0.4\n")
    refused = confir_command("leaderboard", "--means", table, "--split", "dev")
    assert "a table of means has no splits; expected no --split" in " ".join(refused.err.split())


def test_a_measure_that_a_table_does_not_name_is_refused_as_by_evaluate(confir_command, tmp_path):
    unnamed, named = tmp_path / "t.csv", tmp_path / "ndcg_at_10.csv"
    for path in (unnamed, named):
        path.write_text("topic,a,b\nx,0.1,0.2\ny,0.3,0.4\n")
    for command in (("leaderboard", "--means"), ("evaluate", "--scores")):
        for path in (unnamed, named):
            refused = confir_command(*command, path, "-m", "foo")
            assert (refused.code, refused.out) == (2, "")
        found = confir_command(*command, named, "-m", "ndcg_cut_10", "--format", "json")
        assert {one["measure"] for one in json.loads(found.out)} == {"nDCG@10"}


def test_a_board_of_models_is_read_and_columns_settle_others(confir_command, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(",x,y\na,0.1,0.2\nb,0.3,0.4\n")
    given = ("leaderboard", "--means", table, "--replicates", "99", "--format", "json")
    refused = confir_command(*given)
    assert "--columns run=index; or one row per dataset: --columns dataset=index" in " ".join(
        refused.err.split()
    )
    for role, runs in (("run", {"a", "b"}), ("dataset", {"x", "y"})):
        records = json.loads(confir_command(*given, "--columns", f"{role}=index").out)
        assert {one["run"] for one in records} == runs
    folder = write_results(tmp_path / "r", x={"A": {"main_score": 0.5}})
    refused = confir_command("leaderboard", "--means", folder, "--columns", "run=index")
    assert "--columns is for tables" in refused.err


def write_means(path, runs=25):
    """Write means of some runs on three datasets, each better than the one before."""
    header = ",".join(f"r{number:02}" for number in range(runs))
    rows = [
        f"{name}," + ",".join(f"{0.2 + number / 50 + shift:.3f}" for number in range(runs))
        for name, shift in (("x", 0.0), ("y", 0.05), ("z", 0.11))
    ]
    path.write_text(f"dataset,{header}\n" + "\n".join(rows) + "\n")
    return path


def test_means_given_twice_are_those_of_a_dataset(confir_command, tmp_path):
    table = tmp_path / "means.csv"
    table.write_text("dataset,a,b\nd1,0.1,0.2\nd1,0.1,0.3\nd2,0.1,0.2\n")
    refused = confir_command("leaderboard", "--means", table).err
    assert "means.csv:3: a second score of run 'a', measure 'score', dataset 'd1'" in refused


def test_a_leaderboard_chooses_runs_and_rows(confir_command, tmp_path):
    table = write_means(tmp_path / "means.nDCG@10.csv")
    given = ("leaderboard", "--means", table, "--replicates", "99", "--quiet")
    shown = confir_command(*given, "-m", "ndcg_cut_10").out
    assert "mean nDCG@10" in shown.splitlines()[0]
    assert "\n5 more: --rows all\n" in shown
    assert len(re.findall(r"^\d+ +r\d\d ", shown, re.MULTILINE)) == 20
    assert "topics" not in shown.replace("scores of topics are unknown", "")
    whole = confir_command(*given, "--rows", "all").out
    assert len(re.findall(r"^\d+ +r\d\d ", whole, re.MULTILINE)) == 25
    assert "more: --rows" not in whole
    records = json.loads(confir_command(*given, "-m", "nDCG@10", "--format", "json").out)
    assert len(records) == 75
    assert {record["measure"] for record in records} == {"nDCG@10"}
    assert records[0]["run"] == "r24"
    chosen = json.loads(confir_command(*given, "--select", "r0*", "--format", "json").out)
    assert {record["run"] for record in chosen} == {f"r0{number}" for number in range(10)}
    assert chosen == json.loads(
        confir_command(*given, "--select", "r0[0-9]", "--format", "json").out
    )
    top = confir_command(*given[:-1], "--top", "3", "--format", "json")
    assert {record["run"] for record in json.loads(top.out)} == {"r24", "r23", "r22"}
    assert "--top chose 3 of 25 runs by the same datasets" in " ".join(top.err.split())
    refused = confir_command(*given, "--select", "q*")
    assert (refused.code, "unknown run 'q*'" in refused.err) == (2, True)


def test_bold_is_the_best_of_its_column(confir_command, tmp_path):
    table = tmp_path / "means.csv"
    table.write_text("dataset,a,b,c\nx,0.5,0.6,0.1\ny,0.9,0.7,0.2\nz,0.1,0.3,0.8\n")
    markdown = confir_command(
        "leaderboard", "--means", table, "--replicates", "99", "--format", "md"
    ).out
    rows = {}
    for line in markdown.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 9 and cells[0].isdigit():
            rows[cells[1]] = cells
    bold = {run: [cell.startswith("**") for cell in cells[6:]] for run, cells in rows.items()}
    assert bold == {"a": [False, True, False], "b": [True, False, False], "c": [False, False, True]}
    assert not any(cells[1].startswith("**") for cells in rows.values())


def test_a_leaderboard_of_score_tables(confir_command, tmp_path):
    rows = [
        f"{d},{r},AP,{t},{(t * 7 + ord(r) * 3 + ord(d)) % 11 / 11:.4f}\n"
        for d in "xy"
        for r in "abc"
        for t in range(6)
    ]
    both = tmp_path / "both.csv"
    header = "dataset,run,measure,topic,score\n"
    both.write_text(header + "".join(rows))
    for name in "xy":
        own = [row for row in rows if row.startswith(name)]
        (tmp_path / f"{name}.csv").write_text(header + "".join(own))
    given = ("--replicates", "99", "--format", "json", "--quiet")
    whole = confir_command("leaderboard", "--scores", both, *given)
    assert whole.code == 0, whole.err
    assert whole.out == confir_command("leaderboard", both, *given).out
    parts = ("--scores", tmp_path / "x.csv", "--scores", tmp_path / "y.csv")
    assert confir_command("leaderboard", *parts, *given).out == whole.out
    twice = confir_command("leaderboard", *parts, "--scores", both, *given)
    assert (twice.code, "two datasets are named 'x'" in twice.err) == (2, True)
    refused = confir_command("leaderboard", "--scores", both, "--means", both)
    assert "expected DIR..., --scores FILE with a column dataset, or --means FILE" in refused.err


def test_ranks_of_a_leaderboard_are_a_view_of_their_own(confir_command, tmp_path):
    table = write_means(tmp_path / "means.csv", runs=4)
    given = ("leaderboard", "--means", table, "--replicates", "99", "--quiet")
    best, ranks = confir_command(*given).out, confir_command(*given, "--show", "ranks").out
    assert "simultaneous  Borda rank" not in best
    assert "may be best" not in ranks.split("\n\n")[1]
    assert best.splitlines()[:2] == ranks.splitlines()[:2]


def test_leaderboard_ranks_runs_that_miss_datasets_by_a_model(confir_command, tmp_path):
    table = tmp_path / "means.csv"
    table.write_text("topic,a,<b>,c\nd,.1,.2,.3\ne,.2,,.4\nf,.3,.2,.5\ng,.2,.25,.35\n")
    words = ("leaderboard", "--means", table, "--replicates", "99")
    refused = confir_command(*words)
    assert refused.code == 2
    assert "drop-runs, drop-datasets or model" in refused.err
    outcome = confir_command(*words, "--incomplete", "model")
    assert (outcome.code, outcome.err) == (0, "")
    assert "rank of complete runs" in outcome.out
    assert "1 cell of 12 is missing" in outcome.out
    assert confir_command(*words, "--incomplete", "model", "-o", tmp_path / "b.svg").code == 0
    page = confir_command(*words, "--incomplete", "model", "--page", tmp_path / "p.html")
    assert page.code == 2
    assert "--page needs all runs on all datasets" in page.err


def test_a_leaderboard_takes_repeats(confir_command, tmp_path):
    rows = [
        f"d{d},s{s}@{r},AP,{t},{(5 * t + 3 * s + 2 * r + d) % 11 / 11}"
        for d in range(3)
        for s in range(3)
        for r in range(2)
        for t in range(6)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["dataset,run,measure,topic,score", *rows]))
    given = ("leaderboard", "--scores", path, "--replicates", "99", "--quiet")
    outcome = confir_command(*given, "--repeats")
    assert outcome.code == 0, outcome.err
    assert "means over 2 repeats of each system, whose variation counts" in outcome.out
    records = json.loads(confir_command(*given, "--repeats", "--format", "json").out)
    assert {record["run"] for record in records} == {"s0", "s1", "s2"}
    refused = confir_command(*given, "--repeats", "--by-wins")
    assert refused.code == 2
    assert "--repeats cannot be combined with --by-wins" in refused.err
