"""Check of the links of the built site, without a network; part of `make docs`.

    python docs/check_links.py build/docs

Every relative link and picture of every page must lead to a file of the site, and every anchor to
an element of its page. Lists that link to pages, llms.txt among them, are checked as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKING = {"a": "href", "link": "href", "img": "src", "script": "src"}
# What follows # in the address of a report is a view, not an anchor.
VIEWS = "demo.html"


class Page(HTMLParser):
    """The links and anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element links to, and how it can be linked to."""
        named = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := named.get(key))}
        if link := named.get(LINKING.get(tag, "")):
            self.links.append(link)


def broken_links(site: Path) -> Iterator[str]:
    """Yield a sentence for each broken link of a site."""
    written = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in written}
    links = [(path, link) for path, page in pages.items() for link in page.links]
    listed = site / "llms.txt"
    found = re.findall(r"\]\(([^)]+)\)", listed.read_text(encoding="utf-8"))
    for path, link in links + [(listed, link) for link in found]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        shown = f"{path.relative_to(site)} links to {link}"
        if not target.exists():
            yield f"{shown}: no such file"
        elif parts.fragment and target in pages and target.name != VIEWS:
            anchor = unquote(parts.fragment)
            if anchor not in pages[target].anchors:
                yield f"{shown}: no such anchor"


def main() -> None:
    """End with 1 and the broken links of a site, if there are any."""
    site = Path(sys.argv[1]).resolve()
    found = sorted(set(broken_links(site)))
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
