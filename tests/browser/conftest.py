"""A real browser, and pages that the real command made: that of the sample as a process."""

import csv
import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from confir.cli import main
from confir.data.simulation import write_collection
from requirements import missing_requirement
from samples import whole_sample

CHROMIUM = "/usr/bin/chromium"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
# Milliseconds after which a page counts as stuck: far more than a busy machine needs.
STUCK = 600_000

# Names that a page must show as text, and as nothing else.
NASTY_RUNS = (
    "<script>alert(1)</script>",
    "a&b",
    "x" * 80,
    "\N{HEBREW LETTER ALEF}\N{HEBREW LETTER BET}\N{HEBREW LETTER GIMEL}-1",
    "\"><img src=x onerror=alert(1)>'",
    "</script><!--",
    "{{ 7 * 7 }} ${8 * 8}",
)
BUILT_IN = ("constructor", "toString", "valueOf", "__proto__", "hasOwnProperty")
NASTY_TOPICS = tuple(f"<b>{t}</b>&amp;" for t in range(12))


class Opened(NamedTuple):
    """A page in the browser, with its requests and messages."""

    page: Page
    requests: list[str]
    messages: list[str]


class Made(NamedTuple):
    """A page that was written, and where its input is."""

    path: Path
    folder: Path

    def ask(self, command: str, *options: str) -> list[dict[str, Any]]:
        """Return what a command prints as JSON about the same input."""
        arguments = ("qrels.txt", "runs", *options, "--format", "json", "--quiet")
        return json.loads(printed(self.folder, command, *arguments))


def confir(folder: Path, *arguments: str) -> None:
    """Run the command in a folder, in this process."""
    printed(folder, *arguments)


def confir_process(folder: Path, *arguments: str) -> None:
    """Run the command in a folder, as a shell does."""
    subprocess.run([sys.executable, "-m", "confir", *arguments], cwd=folder, check=True)


@cache
def printed(folder: Path, *arguments: str) -> str:
    """Return what the command prints in a folder, run in this process."""
    listening = signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.setattr(sys, "argv", ["confir", *arguments])
        patch.setattr(sys, "unraisablehook", sys.unraisablehook)
        patch.chdir(folder)
        with pytest.raises(SystemExit, match=r"^0$"):
            main()
    signal.signal(signal.SIGINT, listening)
    return out.getvalue()


@pytest.fixture(scope="session")
def browser():
    """Chromium, as Debian has it."""
    if not Path(CHROMIUM).exists():
        message = f"no {CHROMIUM}; install the package chromium"
        missing_requirement(message)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS, timeout=STUCK)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def sample(once_per_run) -> Made:
    """The page about the sample collection, by two measures."""

    def fill(folder: Path) -> None:
        write_collection(whole_sample(), folder)
        measures = ("-m", "AP", "-m", "nDCG@10")
        words = ("report", "qrels.txt", "runs", *measures, "-o", "report.html", "--quiet")
        confir_process(folder, *words)

    folder = once_per_run("page-of-sample", fill)
    return Made(folder / "report.html", folder)


def write_scores(folder: Path, runs: Sequence[str], topics: Sequence[str] = NASTY_TOPICS) -> None:
    """Write a score table of runs and topics with these names."""
    with open(folder / "scores.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["run", "measure", "topic", "score"])
        for r, run in enumerate(runs):
            for t, topic in enumerate(topics):
                writer.writerow([run, "AP", topic, (7 * r + 5 * t + r * t) % 11 / 10])


@pytest.fixture(scope="session")
def built_in(once_per_run) -> Made:
    """A page about runs and topics that are named like what every object of JavaScript has."""

    def fill(folder: Path) -> None:
        write_scores(folder, BUILT_IN, BUILT_IN)
        options = ("-o", "report.html", "--replicates", "999", "--quiet")
        confir(folder, "report", "--scores", "scores.csv", *options)

    folder = once_per_run("page-of-built-in-names", fill)
    return Made(folder / "report.html", folder)


@pytest.fixture(scope="session")
def nasty(once_per_run) -> Made:
    """A page from a score table whose names are made to break it."""

    def fill(folder: Path) -> None:
        write_scores(folder, NASTY_RUNS)
        options = ("-o", "report.html", "--title", "<i>&amp;", "--replicates", "999", "--quiet")
        confir(folder, "report", "--scores", "scores.csv", *options)

    folder = once_per_run("page-of-nasty-names", fill)
    return Made(folder / "report.html", folder)


class Tab:
    """A tab of the browser, with the requests and messages of its page."""

    def __init__(self, browser: Browser) -> None:
        self.page = page = browser.new_context(offline=True).new_page()
        self.requests: list[str] = []
        self.messages: list[str] = []
        page.set_default_timeout(STUCK)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self._note(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self._note(f"error: {error}"))
        page.on("dialog", lambda dialog: (self._note("dialog"), dialog.dismiss()))

    def _note(self, message: str) -> None:
        self.messages.append(message)

    def open(self, made: Made, width: int, scheme: str, *, folded: bool) -> Opened:
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media="null", color_scheme=scheme)
        self.requests, self.messages = [], []
        self.page.goto(made.path.as_uri())
        drawn(self.page)
        if not folded:
            unfold_parts(self.page)
        return Opened(self.page, self.requests, self.messages)


@pytest.fixture(scope="session")
def free_tabs() -> list[Tab]:
    """Tabs to use again: the scripts of the page are compiled there, which takes half of the time."""
    return []


@pytest.fixture
def show(browser: Browser, free_tabs, request):
    """A function that opens a page as a double click does, and waits until it is drawn.

    Its parts are unfolded, unless they are to stay ``folded``.
    """
    taken: list[Tab] = []
    failed = request.session.testsfailed

    def opened(
        made: Made, *, width: int = 1200, scheme: str = "light", folded: bool = False
    ) -> Opened:
        taken.append(free_tabs.pop() if free_tabs else Tab(browser))
        return taken[-1].open(made, width, scheme, folded=folded)

    yield opened
    if request.session.testsfailed == failed:
        free_tabs.extend(taken)
    else:  # a test that failed may leave keys pressed
        for tab in taken:
            tab.page.context.close()


def drawn(page: Page) -> None:
    """Wait until all charts are drawn, or the page has failed."""
    page.wait_for_selector("html[data-ready=true], html[data-ready=error]")
    assert page.get_attribute("html", "data-ready") == "true"


def unfold_parts(page: Page) -> None:
    """Open all parts of a page, and wait until their charts are drawn."""
    with redrawing(page):
        page.eval_on_selector_all("details.part", "all => all.forEach(d => { d.open = true; })")


def unfold(page: Page, table: str) -> None:
    """Open a table that is folded, and wait for its rows, which the page writes after the click."""
    page.locator(f"{table} summary").click()
    page.wait_for_selector(f"{table} tbody tr")


@contextmanager
def redrawing(page: Page) -> Iterator[None]:
    """Wait until charts are redrawn after an event that the page handles with a delay."""
    page.evaluate("document.documentElement.dataset.ready = 'false'")
    yield
    drawn(page)
