"""The GitHub Action, its steps run in a shell as a runner would run them.

The command ``confir`` that they find passes its arguments on to this process, which runs them: a
process of its own would load the library every time.
"""

import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
import yaml

import confir.cli
from confir.data.simulation import sample_collection, write_collection
from requirements import missing_requirement

ROOT = Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

# Passes on its arguments, and repeats the answer.
CONFIR = f"""#!{sys.executable} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line, line.makefile("rw") as stream:
    line.connect(os.environ["CONFIR_SOCKET"])
    print(json.dumps([os.getcwd(), sys.argv[1:]]), file=stream, flush=True)
    code, out, err = json.loads(stream.readline())
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""
# Records its requests, filters the existing comments, and fails where the test demands it.
GH = f"""#!{sys.executable} -IS
import json, os, subprocess, sys
words = sys.argv[1:]
body = [open(word[6:]).read() for word in words if word.startswith("body=@")]
with open(os.environ["GH_LOG"], "a") as log:
    print(json.dumps({{"words": words, "body": body, "token": os.environ["GH_TOKEN"]}}), file=log)
if os.environ.get("GH_FAILS"):
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
if "--jq" in words:
    sys.exit(subprocess.run(
        ["jq", "-r", words[words.index("--jq") + 1], os.environ["GH_COMMENTS"]]
    ).returncode)
"""
PYTHON = """#!/bin/sh
printf '%s\\n' "$@" > "$PIP_LOG"
"""


class Done(NamedTuple):
    """What a run of the action left behind."""

    failed: int
    log: str
    outputs: dict[str, str]
    summary: str
    calls: list[dict[str, Any]]


def evaluated(text: Any, contexts: dict[str, Any]) -> Any:
    """The value of a text with ``${{ … }}``; alone, an expression keeps its type."""

    def value(expression: str) -> Any:
        names = re.compile(r"'[^']*'|[A-Za-z][\w-]*(?:\.[\w-]+)+")

        def found(match: re.Match[str]) -> str:
            if match[0].startswith("'"):
                return match[0]
            held: Any = contexts
            for part in match[0].split("."):
                held = held.get(part, "") if isinstance(held, dict) else ""
            return repr(held)

        python = names.sub(found, expression).replace("&&", " and ").replace("||", " or ")
        return eval(python, {"__builtins__": {}})  # noqa: S307 - our own file

    whole = re.fullmatch(r"\$\{\{(.*)\}\}", str(text).strip())
    if whole:
        return value(whole[1].strip())
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(value(found[1].strip())), str(text))


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The folder of the sample collection's files."""
    folder = tmp_path_factory.mktemp("sample")
    write_collection(sample_collection(), folder)
    return folder


def run_here(folder: str, words: list[str]) -> tuple[int, str, str]:
    """Run the command line in this process, as if it had been started in a folder."""
    out, err = io.StringIO(), io.StringIO()
    before, listening = os.getcwd(), sys.unraisablehook
    code = None
    with mock.patch.object(sys, "argv", ["confir", *words]), redirect_stdout(out):
        try:
            os.chdir(folder)
            with redirect_stderr(err):
                confir.cli.main()
        except SystemExit as stop:
            code = stop.code
        finally:
            os.chdir(before)
            sys.unraisablehook = listening
    return int(code or 0), out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def answering():
    """The socket at which commands are run in this process."""
    with (
        tempfile.TemporaryDirectory(prefix="c-") as folder,  # sockets have short names
        socket.socket(socket.AF_UNIX) as listening,
        ThreadPoolExecutor(1) as pool,
    ):
        listening.bind(os.path.join(folder, "s"))
        listening.listen()

        def answer():
            while True:
                line, _ = listening.accept()
                with line, line.makefile("rw") as stream:
                    asked = stream.readline()
                    if not asked:
                        return
                    print(json.dumps(run_here(*json.loads(asked))), file=stream, flush=True)

        pool.submit(answer)
        yield listening.getsockname()
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(listening.getsockname())


@pytest.fixture
def act(tmp_path, sample, answering):
    """A function that runs the action with inputs, in a folder with the sample's files."""
    if shutil.which("jq") is None:
        missing_requirement("jq is not installed")
    work, tools = tmp_path / "work", tmp_path / "tools"
    tools.mkdir()
    work.mkdir()
    (work / "sample").symlink_to(sample)
    for name, text in {"confir": CONFIR, "gh": GH, "python": PYTHON}.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def run(*, event=None, comments=(), extra=None, **inputs) -> Done:
        event = {"pull_request": {"number": 7, "head": {"sha": "abc"}}} if event is None else event
        files = {name: tmp_path / name for name in ("summary", "comments", "gh", "pip", "output")}
        for name in ("summary", "gh", "output"):
            files[name].write_text("")
        files["comments"].write_text(json.dumps(list(comments)))
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        assert given.keys() <= ACTION["inputs"].keys()
        github = {
            "action_path": "/the/action",
            "event": event,
            "repository": "team/search",
            "sha": "merge",
            "token": "secret",
        }
        contexts = {"github": github, "steps": {}}
        contexts["inputs"] = {
            name: given.get(name, evaluated(one.get("default", ""), contexts))
            for name, one in ACTION["inputs"].items()
        }
        log, failed = "", 0
        for number, step in enumerate(ACTION["runs"]["steps"]):
            if "run" not in step or not evaluated(step.get("if", "${{ True }}"), contexts):
                continue
            if failed:
                break
            script = tmp_path / f"step{number}.sh"
            script.write_text(step["run"])
            own = {name: str(evaluated(text, contexts)) for name, text in step["env"].items()}
            files["output"].write_text("")
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
                cwd=work,
                env={
                    **os.environ,
                    "PATH": f"{tools}:{os.environ['PATH']}",
                    "RUNNER_TEMP": str(tmp_path),
                    "GITHUB_STEP_SUMMARY": str(files["summary"]),
                    "GITHUB_OUTPUT": str(files["output"]),
                    "GH_LOG": str(files["gh"]),
                    "GH_COMMENTS": str(files["comments"]),
                    "PIP_LOG": str(files["pip"]),
                    "CONFIR_SOCKET": answering,
                    **own,
                    **(extra or {}),
                },
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
            )
            log += done.stdout + done.stderr
            failed = done.returncode
            pairs = [line.partition("=") for line in files["output"].read_text().splitlines()]
            contexts["steps"][step.get("id", number)] = {
                "outputs": {name: value for name, _, value in pairs}
            }
        outputs = {
            name: evaluated(one["value"], contexts) for name, one in ACTION["outputs"].items()
        }
        calls = [json.loads(line) for line in files["gh"].read_text().splitlines()]
        return Done(failed, log, outputs, files["summary"].read_text(), calls)

    vars(run).update(work=work, tools=tools, pip=tmp_path / "pip")
    return run


RUNS = {
    "qrels": "sample/qrels.txt",
    "baseline": "sample/runs/bm25.txt",
    "candidate": "sample/runs/tfidf.txt",
}


def test_a_worse_candidate_fails_the_job_with_summary_annotation_and_comment(act):
    done = act(**RUNS, margin="0.005")
    assert done.failed == 1
    assert done.outputs["gate"] == "closed"
    assert done.summary.startswith("## Retrieval quality\n\n### Gate closed: nDCG@10\n")
    assert (
        "| **tfidf** | **fails** | **0.3202 → 0.1781** | **-0.1421 [-0.1865, -0.0977]** |"
        in done.summary
    )
    assert Path(done.outputs["summary"]).read_text() == done.summary
    (error,) = re.findall(r"^::error title=Retrieval quality::(.*)$", done.log, re.MULTILINE)
    assert error.startswith(
        "gate closed: by nDCG@10 against bm25, tfidf: difference -0.1421, 95%25 i"
    )
    listed, posted = done.calls
    assert listed["words"][:3] == ["api", "--paginate", "repos/team/search/issues/7/comments"]
    assert posted["words"][:4] == ["api", "--method", "POST", "repos/team/search/issues/7/comments"]
    assert posted["body"] == [f"<!-- confir: Retrieval quality -->\n{done.summary}"]
    assert posted["token"] == "secret"  # noqa: S105


def test_a_better_candidate_passes_and_the_comment_is_updated(act):
    comments = [
        {"id": 1, "user": {"type": "User"}, "body": "<!-- confir: Retrieval quality -->\nmine"},
        {"id": 2, "user": {"type": "Bot"}, "body": "<!-- confir: Another -->\nother"},
        {"id": 3, "user": {"type": "Bot"}, "body": "<!-- confir: Retrieval quality -->\nold"},
        {"id": 4, "user": {"type": "Bot"}, "body": "<!-- confir: Retrieval quality -->\nolder"},
    ]
    candidates = "new=sample/runs/rerank.txt\n\n  \r\nsample/runs/hybrid.txt\r\n"
    done = act(**{**RUNS, "candidate": candidates}, measures="AP, nDCG@10", comments=comments)
    assert (done.failed, done.outputs["gate"]) == (0, "open"), done.log
    assert "### Gate open: AP" in done.summary
    assert "### Gate open: nDCG@10" in done.summary
    assert "| new | passes |" in done.summary
    assert "| hybrid | passes |" in done.summary
    assert (
        len(re.findall("^::notice title=Retrieval quality::gate open", done.log, re.MULTILINE)) == 2
    )
    assert done.calls[1]["words"][2:4] == ["PATCH", "repos/team/search/issues/comments/3"]


def test_an_error_fails_the_job_and_is_shown(act):
    done = act(**{**RUNS, "candidate": "nowhere.run"})
    assert (done.failed, done.outputs["gate"]) == (2, "error")
    assert "::error title=Retrieval quality::nowhere.run: no such file" in done.log
    assert "confir: error: nowhere.run: no such file" in done.summary
    assert "confir: error: nowhere.run: no such file" in done.calls[-1]["body"][0]


@pytest.mark.parametrize(
    ("fail", "code"),
    [("false", 0), ("False", 0), ("no", 0), ("true", 1), ("TRUE", 1), ("yes", 1), ("1", 1)],
)
def test_a_closed_gate_may_leave_the_job_alone_in_any_spelling(act, fail, code):
    replay(act, 1, "### Gate closed: AP\n")
    assert act(**RUNS, fail=fail).failed == code


@pytest.mark.parametrize("fail", ["", "maybe", "truth", "false\n::error::x"])
def test_what_is_neither_true_nor_false_is_refused(act, fail):
    replay(act, 1, "### Gate closed: AP\n")
    done = act(**RUNS, fail=fail)
    assert done.failed == 2
    assert "; expected true or false" in done.log
    assert not re.search("^::error::x", done.log, re.MULTILINE)


def test_no_error_leaves_the_job_alone(act):
    assert act(**{**RUNS, "qrels": ""}, fail="false").failed == 2


def replay(act, code, summary, message=""):
    """Let the command exit with a code, and write this summary to its output."""
    path = act.tools / "confir"
    path.write_text(
        f"#!{sys.executable} -IS\nimport sys\n"
        f"if {summary!r}:\n"
        f"    open(sys.argv[sys.argv.index('--output') + 1], 'w').write({summary!r})\n"
        f"print({message!r}, file=sys.stderr)\nsys.exit({code})\n"
    )


@pytest.mark.parametrize(
    ("code", "summary"),
    [
        (0, ""),  # such as of --help
        (0, "a table\n"),
        (0, "### Gate closed: AP\n"),
        (0, "### Gate open: AP\n\n### Gate closed: nDCG\n"),
        (1, ""),  # such as of Python itself, where an import fails
        (1, "### Gate open: AP\n"),
        (2, "### Gate open: AP\n"),
        (127, ""),
        (139, "### Gate closed: AP\n"),
    ],
)
@pytest.mark.parametrize("fail", ["true", "false"])
def test_nothing_but_an_open_gate_passes(act, code, summary, fail):
    replay(act, code, summary)
    done = act(**RUNS, fail=fail, comment="false")
    assert (done.failed, done.outputs["gate"]) == (max(code, 2), "error")


def test_help_is_no_open_gate(act):
    done = act(**RUNS, arguments="--help")
    assert (done.failed, done.outputs["gate"]) == (2, "error")
    assert "::error title=Retrieval quality::confir compare decided nothing" in done.log


def test_only_pull_requests_are_commented_on(act):
    done = act(**RUNS, event={})
    assert (done.failed, done.calls) == (1, [])
    assert act(**RUNS, comment="false").calls == []


def test_a_comment_that_is_refused_is_a_warning(act):
    done = act(**RUNS, extra={"GH_FAILS": "1"})
    assert done.failed == 1
    assert "::warning::confir could not comment on the pull request" in done.log
    assert len(done.calls) == 1


def test_history_junit_and_all_other_inputs_reach_confir(act):
    inputs = {
        **RUNS,
        "baseline": "main=sample/runs/bm25.txt",
        "history": "history.jsonl",
        "junit": "gate.xml",
        "require": "non-inferior",
        "margin": "0.01",
        "level": "0.9",
        "arguments": "--rel\n2\n-m\nP@10",
    }
    for _ in range(2):
        done = act(**inputs)
        assert done.failed == 1, done.log
    (record,) = [json.loads(line) for line in (act.work / "history.jsonl").read_text().splitlines()]
    given = ("look", "commit", "measure", "run", "against", "require", "margin", "level")
    assert [record[name] for name in given] == [
        *(1, "abc", "nDCG@10", "tfidf", "main", "non-inferior", 0.01, 0.9),
    ]
    suites = ET.parse(act.work / "gate.xml").getroot()  # noqa: S314 - our own file
    assert suites.get("failures") == "1"
    assert "P(rel=2)@<!-- -->10" in done.summary  # which would notify the user of that name
    assert "look 1: its intervals have level 93." in done.summary


def test_a_score_table_replaces_runs(act):
    rows = [f"{run},m,t{t},{s + t / 100}" for run, s in (("a", 0.5), ("b", 0.2)) for t in range(9)]
    rows = [row if not row.startswith("b") else row.replace("t3,0.23", "t3,0.3") for row in rows]
    (act.work / "scores.csv").write_text("run,measure,topic,score\n" + "\n".join(rows) + "\n")
    done = act(scores="scores.csv", baseline="a", measures="m")
    assert (done.failed, done.outputs["gate"]) == (1, "closed"), done.log


@pytest.mark.parametrize(
    ("target", "require", "gate"),
    [
        ("AP=0.1", "", "open"),
        ("AP=0.3", "", "closed"),
        ("AP=0.21\nnDCG@10=0.1", "", "open"),
        ("AP=0.21", "reached", "closed"),
    ],
)
def test_targets_need_no_baseline(act, target, require, gate):
    inputs = {"qrels": "sample/qrels.txt", "candidate": "sample/runs/bm25.txt"}
    done = act(**inputs, fail_below=target, require=require)
    assert (done.failed, done.outputs["gate"]) == (int(gate == "closed"), gate), done.log
    assert done.summary.startswith(f"## Retrieval quality\n\n### Gate {gate}: AP\n")
    assert f"gate {gate}: " in done.log
    assert done.calls[-1]["body"] == [f"<!-- confir: Retrieval quality -->\n{done.summary}"]


def test_targets_of_a_score_table(act):
    rows = [f"{run},m,t{t},{s + t / 100}" for run, s in (("a", 0.5), ("b", 0.2)) for t in range(9)]
    (act.work / "scores.csv").write_text("run,measure,topic,score\n" + "\n".join(rows) + "\n")
    done = act(scores="scores.csv", fail_below="m=0.4")
    assert (done.failed, done.outputs["gate"]) == (1, "closed"), done.log


def test_what_names_hold_is_never_run_or_obeyed(act):
    odd = "$(touch hacked)`touch hacked`<script>\n::error::x"
    shutil.copy(act.work / "sample/runs/tfidf.txt", act.work / "100%.run")
    for names in (("candidate", "title"), ("measures", "margin", "baseline", "arguments")):
        done = act(**{**RUNS, **dict.fromkeys(names, odd)})
        assert done.failed == 2
        assert not (act.work / "hacked").exists()
        assert not re.search("^::error::x", done.log, re.MULTILINE)
    done = act(**{**RUNS, "candidate": "$(x)%=100%.run"})
    assert "$(x)%25: difference" in done.log
    assert r"| **\$\(x\)%** | **fails** |" in done.calls[-1]["body"][0]


def test_the_action_installs_the_version_that_it_is_part_of(act):
    act(**RUNS)
    assert act.pip.read_text().splitlines()[-1] == "/the/action"
    act(**RUNS, package="confir==0.1.0")
    assert act.pip.read_text().splitlines()[-1] == "confir==0.1.0"


def test_a_long_comparison_is_cut_to_what_a_comment_may_hold(act):
    (act.work / "many").mkdir()
    read = (act.work / "sample/runs/hybrid.txt").read_text().splitlines(keepends=True)
    lines = "".join(line for line in read if int(line.split()[3]) <= 10)
    (act.work / "cut.txt").write_text(lines)
    for number in range(120):
        (act.work / "many" / f"{'ä' * 60}-{number:03d}.txt").write_text(lines)
    done = act(**{**RUNS, "baseline": "cut.txt", "candidate": "many"}, measures="AP,nDCG@10,P@10")
    assert done.failed == 0, done.log
    (body,) = done.calls[-1]["body"]
    assert len(done.summary.encode()) > 60_000
    assert 50_000 < len(body.encode()) <= 60_000
    assert body.startswith("<!-- confir: Retrieval quality -->\n## Retrieval quality")


def test_inputs_reach_scripts_through_the_environment_alone():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert step.get("shell", "bash") == "bash"
    described = [*ACTION["inputs"].values(), *ACTION["outputs"].values()]
    assert all(one["description"].endswith(".") for one in described)
