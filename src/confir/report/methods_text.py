"""The methods paragraph for a paper, with its references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import NamedTuple

from confir.data.sampling_designs.sampled_document_scores import as_sampled
from confir.errors import counted
from confir.number_text import percent
from confir.references import REFERENCES
from confir.report.contents import Contents
from confir.report.latex_text import escape_latex
from confir.report.sections import PLACE, Sentence
from confir.studies import find_sections


class MethodsText(NamedTuple):
    """The methods paragraph as plain text and LaTeX, and its references in BibTeX."""

    paragraph: str
    latex: str
    bibtex: str


# The sentences of the sections come in between.
_FIRST, _DOCUMENTS, _LAST = 0, 15, 1000

# The word, but not within a name such as topic-bert.
_TOPIC = re.compile(r"(?<![\w.@/-])topic(?=s?(?![\w.@/-]\w|[\w@/-]))")


def methods_text(contents: Contents) -> MethodsText:
    """Return the paragraph on how the numbers of a report were computed."""
    release, unit = version("confir"), contents.scores.unit_name
    parts = [
        sentence._replace(text=_TOPIC.sub(unit, sentence.text))
        for sentence in sorted(_sentences(contents, release), key=PLACE)
    ]
    latex = []
    for part in parts:
        cited = f"~\\cite{{{','.join(part.cites)}}}" if part.cites else ""
        latex.append(f"{escape_latex(part.text.removesuffix('.'))}{cited}.")
    cited_works = dict.fromkeys(key for part in parts for key in part.cites)
    entries = [
        REFERENCES[key] % release if key == "confir" else REFERENCES[key] for key in cited_works
    ]
    paragraph = " ".join(part.text for part in parts)
    return MethodsText(paragraph, " ".join(latex), "\n\n".join(entries))


def _sentences(contents: Contents, release: str) -> Iterator[Sentence]:
    """Yield the sentences on scores, on the sections that have a result, and on the seed."""
    scores = contents.scores
    were = "was" if len(scores.runs) == 1 else "were"
    yield Sentence(
        _FIRST,
        f"{counted(len(scores.runs), 'run')} {were} scored by {', '.join(scores.measures)} over "
        f"{counted(len(scores.topics), 'topic')} (confir {release}).",
        ("confir",),
    )
    if (scores.topic_counts() < len(scores.topics)).any():
        yield Sentence(_FIRST, "A topic without a score is left out of the run's mean.")
    if scores.human_documents:
        yield from _sampled_documents(contents)
    yield from _of_sections(contents)
    yield Sentence(_LAST, f"The seed of all random numbers was {contents.settings.seed}.")


def _of_sections(contents: Contents) -> Iterator[Sentence]:
    """Yield the sentences of the sections that have a result."""
    settings = contents.settings
    size = ""
    if contents.documents is not None:
        counted_here = ", those that occur in qrels and runs" if contents.documents_counted else ""
        size = f"{contents.documents:,} documents{counted_here}"
    named = {
        "level": percent(settings.level),
        "replicates": counted(settings.replicates, "replicate"),
        "documents": size,
    }
    for study, section in find_sections().items():
        if section.methods is None or not contents.has(study):
            continue
        if isinstance(section.methods, Sentence):
            parts = contents.measures if section.by_measure else (contents,)
            result = next(one[study] for one in parts if one[study] is not None)
            said = section.methods.text.format(result=result, **named)
            yield section.methods._replace(text=said)
        else:
            yield from section.methods(contents)


def _sampled_documents(contents: Contents) -> Iterator[Sentence]:
    sampled = as_sampled(contents.scores.listed())
    yield Sentence(
        _DOCUMENTS,
        f"Humans judged {sampled.human_documents:,} of "
        f"{sampled.model_documents:,} documents, drawn at random, a model all of them; "
        "scores are by human judgements, estimated with the probabilities of being drawn "
        "(Horvitz & Thompson 1952) and the model's judgements with a weight from other topics.",
        ("Horvitz1952",),
    )
    if sampled.draw_replicates:
        yield Sentence(
            _DOCUMENTS,
            "The part of the draw in the variance of means is by "
            f"{counted(sampled.draw_replicates, 'replicate')} of it, a bootstrap from a "
            "pseudo-population (Beaumont & Patak 2012).",
            ("BeaumontPatak2012",),
        )
