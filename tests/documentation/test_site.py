"""The site has all public names, and a picture and limits for each question."""

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import confir
from confir.studies import STUDIES

DOCS = Path(__file__).resolve().parents[2] / "docs"
# Words that users search for, and the page that is to come first: search ranks titles highest.
SEARCHED = {
    "jupyter": "notebooks.md",
    "colab": "notebooks.md",
    "(ci, pytest)": "gate.md",
    "p-value": "compare.md",
    "significance": "which-test.md",
    "t-test": "which-test.md",
    "bootstrap": "which-interval.md",
    "error bars": "intervals.md",
    "leaderboard": "datasets.md",
    "mteb": "cases/mteb.md",
    "llm judge": "llm-judges.md",
    "dashboard": "dashboards.md",
    "seed": "seeds.md",
    "elo": "preferences.md",
    "bradley-terry": "preferences.md",
    "latency": "tradeoff.md",
    "sample size": "plan.md",
    "power": "plan.md",
    "install": "install.md",
    "agent": "agents.md",
}
ANSWERS = sorted({study.source[1].partition("#")[0] for study in STUDIES})


def test_every_public_name_is_on_the_page_of_names():
    spec = spec_from_file_location("conf", DOCS / "conf.py")
    settings = module_from_spec(spec)
    spec.loader.exec_module(settings)
    page = settings._api_page()
    shown = re.findall(r"^(?:    |- `)confir\.(\w+)`?$|^- `confir\.(\w+)`", page, re.MULTILINE)
    assert sorted(map("".join, shown)) == sorted(confir.__all__)
    results = re.findall(r"^    confir\.results\.(\w+)$", page, re.MULTILINE)
    assert sorted(results) == sorted(confir.results.__all__)


@pytest.mark.parametrize("page", ANSWERS)
def test_every_question_has_a_picture_and_says_what_its_limits_are(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert re.search(r"!\[[^\]]+\]\((figures|reproductions)/[\w-]+\.svg\)", text)
    assert "\n## Limits\n" in text
    assert re.search(r"^(\$ )?confir |^import confir", text, re.MULTILINE)


@pytest.mark.parametrize(("word", "page"), SEARCHED.items())
def test_titles_have_the_words_that_users_search_for(word, page):
    title = (DOCS / page).read_text(encoding="utf-8").partition("\n")[0]
    assert word in title.lower()


@pytest.mark.parametrize("picture", sorted(DOCS.rglob("figures/*.svg")), ids=lambda path: path.name)
def test_pictures_are_well_formed(picture):
    assert ET.parse(picture).getroot().tag.endswith("svg")  # noqa: S314 - drawn by confir


def test_every_page_is_in_one_table_of_contents():
    listed = [
        name
        for page in (*DOCS.glob("*.md"), *DOCS.glob("cases/*.md"))
        for block in re.findall(r"```{toctree}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        for line in block.split()
        if not line.startswith(":") and not line[0].isdigit() and "generated" not in line
        for name in [str((page.parent / line).relative_to(DOCS))]
    ]
    pages = [
        str(p.relative_to(DOCS).with_suffix(""))
        for p in (*DOCS.glob("*.md"), *DOCS.glob("cases/*.md"), *DOCS.glob("reproductions/*.md"))
    ]
    assert sorted(listed) == sorted(set(pages) - {"index"})


def test_the_citation_has_the_version_of_the_package():
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (DOCS.parent / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {project['version']}\n" in citation
    assert re.search(r"^date-released: \d{4}-\d\d-\d\d$", citation, re.MULTILINE)
