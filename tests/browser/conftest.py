"""A real browser, and pages that the real command made."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from confir.data.simulation import sample_collection, write_collection
from requirements import missing_requirement

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
    """A page in the browser, and what it asked for and said meanwhile."""

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
        return json.loads(confir(self.folder, command, *arguments))


@cache
def confir(folder: Path, *arguments: str) -> str:
    """Run the command in a folder and return what it prints."""
    command = [sys.executable, "-m", "confir", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


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
def sample(tmp_path_factory) -> Made:
    """The page about the sample collection, by two measures."""
    folder = tmp_path_factory.mktemp("sample")
    write_collection(sample_collection(), folder)
    measures = ("-m", "AP", "-m", "nDCG@10")
    confir(folder, "report", "qrels.txt", "runs", *measures, "-o", "report.html", "--quiet")
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
def built_in(tmp_path_factory) -> Made:
    """A page about runs and topics that are named like what every object of JavaScript has."""
    folder = tmp_path_factory.mktemp("built_in")
    write_scores(folder, BUILT_IN, BUILT_IN)
    options = ("-o", "report.html", "--replicates", "999", "--quiet")
    confir(folder, "report", "--scores", "scores.csv", *options)
    return Made(folder / "report.html", folder)


@pytest.fixture(scope="session")
def nasty(tmp_path_factory) -> Made:
    """A page from a score table whose names are made to break it."""
    folder = tmp_path_factory.mktemp("nasty")
    write_scores(folder, NASTY_RUNS)
    options = ("-o", "report.html", "--title", "<i>&amp;", "--replicates", "999", "--quiet")
    confir(folder, "report", "--scores", "scores.csv", *options)
    return Made(folder / "report.html", folder)


@pytest.fixture
def show(browser: Browser):
    """A function that opens a page as a double click does, and waits until it is drawn."""
    contexts = []

    def opened(made: Made, *, width: int = 1200, scheme: str = "light") -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        context.set_default_timeout(STUCK)
        contexts.append(context)
        page = context.new_page()
        requests: list[str] = []
        messages: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: messages.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (messages.append("dialog"), dialog.dismiss()))
        page.goto(made.path.as_uri())
        drawn(page)
        return Opened(page, requests, messages)

    yield opened
    for context in contexts:
        context.close()


def drawn(page: Page) -> None:
    """Wait until all charts are drawn, or the page has failed."""
    page.wait_for_selector("html[data-ready=true], html[data-ready=error]")
    assert page.get_attribute("html", "data-ready") == "true"


@contextmanager
def redrawing(page: Page) -> Iterator[None]:
    """Wait until charts are drawn anew after something that the page notices only later."""
    page.evaluate("document.documentElement.dataset.ready = 'false'")
    yield
    drawn(page)
