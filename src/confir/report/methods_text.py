"""The methods paragraph for a paper, with its references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import NamedTuple

from confir.data.sampling_designs.sampled_document_scores import as_sampled
from confir.errors import counted
from confir.references import REFERENCES
from confir.report.contents import Contents
from confir.report.latex_text import escape_latex
from confir.report.sections import PLACE, Sentence, methods_sentences


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
    release = version("confir")
    parts = sorted(
        [
            *_scores(contents, release),
            *(_sampled_documents(contents) if contents.scores.human_documents else ()),
            *methods_sentences(contents),
            Sentence(_LAST, f"The seed of all random numbers was {contents.settings.seed}."),
        ],
        key=PLACE,
    )
    unit = contents.scores.unit_name
    parts = [part._replace(text=_TOPIC.sub(unit, part.text)) for part in parts]
    paragraph = " ".join(sentence.text for sentence in parts)
    latex = " ".join(map(_in_latex, parts))
    cited = dict.fromkeys(key for sentence in parts for key in sentence.cites)
    entries = [REFERENCES[key] % release if key == "confir" else REFERENCES[key] for key in cited]
    return MethodsText(paragraph, latex, "\n\n".join(entries))


def _in_latex(sentence: Sentence) -> str:
    """Return a sentence for LaTeX, with its citations."""
    cited = f"~\\cite{{{','.join(sentence.cites)}}}" if sentence.cites else ""
    return f"{escape_latex(sentence.text.removesuffix('.'))}{cited}."


def _scores(contents: Contents, release: str) -> Iterator[Sentence]:
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


def _sampled_documents(contents: Contents) -> Iterator[Sentence]:
    sampled = as_sampled(contents.scores.listed())
    yield Sentence(
        _DOCUMENTS,
        f"People judged {sampled.human_documents:,} of "
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
