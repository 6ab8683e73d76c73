"""Settings of the documentation site: `make docs` builds it into build/docs; warnings are errors."""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from typing import Any

project = "confir"
author = "The confir developers"
copyright = "2026, the confir developers"  # noqa: A001
# The installed package may be an earlier one.
_PROJECT = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8"))
version = release = _PROJECT["project"]["version"]

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
myst_heading_anchors = 4
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
suppress_warnings = ["docutils"]  # docstrings are plain text with numpydoc's headings

html_theme = "pydata_sphinx_theme"
html_title = f"confir {release}"
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 4,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

# Pages that come from confir's own lists, written before the site is built.
GENERATED = Path(__file__).resolve().parent / "generated"
# Files of the site that are not pages: the report on the sample collection.
EXTRA = GENERATED / "site"
html_extra_path = ["generated/site", "../skills/confir"]
exclude_patterns = ["generated/site"]
LISTS = {
    "confir.MEASURES": "the [measures](../measures.md) by name",
    "confir.METHODS": "the [interval methods](../intervals.md#the-methods) by name",
}
_FIELD = re.compile(r"^\s+(\w+)\s*=\s*\{(.*)\},?$", re.MULTILINE)


def setup(app: Any) -> None:
    """Write what comes from confir itself: names, references, a report, and the list of pages."""
    rmtree(GENERATED, ignore_errors=True)  # pages of names that are gone
    EXTRA.mkdir(parents=True)
    (GENERATED / "api.md").write_text(_api_page(), encoding="utf-8")
    (GENERATED / "references.md").write_text(_reference_page(), encoding="utf-8")
    app.connect("source-read", _show_outputs)
    app.connect("builder-inited", _write_demo)
    app.connect("build-finished", _write_list)


def _show_outputs(_app: Any, _page: str, source: list[str]) -> None:
    source[0] = re.sub(r"^```(output|python file=.*)$", _language, source[0], flags=re.MULTILINE)


def _language(fence: re.Match[str]) -> str:
    return "```text" if fence[1] == "output" else "```python"


def _write_demo(_app: Any) -> None:
    """Write the report on the sample collection, which the site links to as a live page."""
    import confir

    sample = confir.sample_collection()
    experiment = confir.Experiment(sample.qrels, sample.runs, ["nDCG@10", "AP", "RR"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows them
        confir.write_report(
            EXTRA / "demo.html", experiment, title="Eight runs on the sample collection"
        )


def _write_list(app: Any, exception: Exception | None) -> None:
    """Write llms.txt: every page with its title and its first sentence, for programs that read."""
    if exception is None and app.builder.format == "html":
        written = Path(app.outdir) / "llms.txt"
        written.write_text("\n".join(_listed_pages(app.env)) + "\n", encoding="utf-8")


def _listed_pages(env: Any) -> Iterator[str]:
    yield f"# confir\n\n> {_first_sentence(env, env.config.root_doc)}"
    yield "\nEach link is the source of a page in Markdown; examples are followed by their output."
    parts = env.toctree_includes
    for part in parts[env.config.root_doc]:
        yield f"\n## {env.titles[part].astext()}\n"
        for page in (part, *parts.get(part, ())):
            if page.startswith("generated/api/"):
                continue
            said = _first_sentence(env, page)
            title = env.titles[page].astext()
            yield f"- [{title}](_sources/{page}.md.txt)" + (f": {said}" if said else "")


def _first_sentence(env: Any, page: str) -> str:
    """Return the first sentence of a page's first paragraph, or nothing where there is none."""
    from docutils.nodes import image, paragraph, section

    for found in env.get_doctree(page).findall(paragraph):
        if isinstance(found.parent, section) and not any(found.findall(image)):
            text = " ".join(found.astext().split())
            return re.split(r"(?<=[^A-Z][.?!])\s", text, maxsplit=1)[0].rstrip(":")
    return ""


def _api_page() -> str:
    """Return the page of all public names: verbs, results and lists."""
    import confir

    groups: dict[str, list[str]] = {"Functions": [], "Classes": [], "Lists": []}
    for name in sorted(confir.__all__):
        value = getattr(confir, name)
        kind = "Classes" if isinstance(value, type) else "Functions" if callable(value) else "Lists"
        groups[kind].append(f"confir.{name}")
    errors = vars(import_module("confir.errors")).values()
    raised = [e.__name__ for e in errors if isinstance(e, type) and issubclass(e, Exception)]
    parts = ["# Names of the library"]
    parts += [f"## {kind}\n\n{_summary(groups[kind])}" for kind in ("Functions", "Classes")]
    parts.append(
        f"## Results\n\n{_summary([f'confir.results.{n}' for n in confir.results.__all__])}"
    )
    lists = "\n".join(f"- `{name}`: {LISTS[name]}" for name in groups["Lists"])
    parts.append(f"## Lists\n\n{lists}")
    parts.append(f"## Errors and warnings\n\n{_summary([f'confir.errors.{e}' for e in raised])}")
    return "\n\n".join(parts) + "\n"


def _summary(names: list[str]) -> str:
    """Return a table of names, each with a page of its own."""
    listed = "\n".join(f"    {name}" for name in names)
    return (
        f"```{{eval-rst}}\n.. autosummary::\n    :toctree: api\n    :nosignatures:\n\n{listed}\n```"
    )


def _reference_page() -> str:
    """Return the page of all works that methods and studies cite."""
    from confir.references import REFERENCES

    lines = []
    for key, entry in sorted(REFERENCES.items()):
        fields = {name: value.strip("{}") for name, value in _FIELD.findall(entry)}
        where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher") or ""
        author = fields.get("author", "").replace(" and ", ", ")
        lines.append(f"- **{key}**: {author}. {fields.get('title', '')}. {where} {fields['year']}.")
    return "# References\n\n" + "\n".join(lines) + "\n"
