"""How was it done? A paragraph for a paper, with its references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

from confir.intervals.catalogue import METHODS
from confir.report.contents import COLLECTION_REPLICATES, COVERAGE_SAMPLES, Contents
from confir.report.numbers import counted, percent
from confir.report.tables import bounds_note, escape_latex


class MethodsText(NamedTuple):
    """A paragraph about methods, the same for LaTeX, and BibTeX of what they cite."""

    paragraph: str
    latex: str
    bibtex: str


class Sentence(NamedTuple):
    """A sentence, and the keys of the works that it cites."""

    text: str
    cites: tuple[str, ...] = ()


# By a key made of names and year, as texts spell them.
REFERENCES = {
    "confir": """@misc{confir,
  author = {{The confir developers}},
  title  = {confir: how far an information-retrieval evaluation score can be trusted},
  note   = {Version %s},
  year   = {2026}
}""",
    "Student1908": """@article{Student1908,
  author  = {Student},
  title   = {The Probable Error of a Mean},
  journal = {Biometrika},
  volume  = {6},
  number  = {1},
  pages   = {1--25},
  year    = {1908}
}""",
    "Efron1979": """@article{Efron1979,
  author  = {Bradley Efron},
  title   = {Bootstrap Methods: Another Look at the Jackknife},
  journal = {The Annals of Statistics},
  volume  = {7},
  number  = {1},
  pages   = {1--26},
  year    = {1979}
}""",
    "Efron1981": """@article{Efron1981,
  author  = {Bradley Efron},
  title   = {Nonparametric Standard Errors and Confidence Intervals},
  journal = {Canadian Journal of Statistics},
  volume  = {9},
  number  = {2},
  pages   = {139--158},
  year    = {1981}
}""",
    "Efron1987": """@article{Efron1987,
  author  = {Bradley Efron},
  title   = {Better Bootstrap Confidence Intervals},
  journal = {Journal of the American Statistical Association},
  volume  = {82},
  number  = {397},
  pages   = {171--185},
  year    = {1987}
}""",
    "Hall1988": """@article{Hall1988,
  author  = {Peter Hall},
  title   = {On Symmetric Bootstrap Confidence Intervals},
  journal = {Journal of the Royal Statistical Society, Series B},
  volume  = {50},
  number  = {1},
  pages   = {35--45},
  year    = {1988}
}""",
    "Hall1992": """@article{Hall1992,
  author  = {Peter Hall},
  title   = {On the Removal of Skewness by Transformation},
  journal = {Journal of the Royal Statistical Society, Series B},
  volume  = {54},
  number  = {1},
  pages   = {221--228},
  year    = {1992}
}""",
    "Gaffke2005": """@article{Gaffke2005,
  author  = {Norbert Gaffke},
  title   = {Three Test Statistics for a Nonparametric One-Sided Hypothesis on the Mean of a
             Nonnegative Variable},
  journal = {Mathematical Methods of Statistics},
  volume  = {14},
  number  = {4},
  pages   = {451--467},
  year    = {2005}
}""",
    "Learned-MillerThomas2019": """@misc{Learned-MillerThomas2019,
  author = {Erik Learned-Miller and Philip S. Thomas},
  title  = {A New Confidence Interval for the Mean of a Bounded Random Variable},
  note   = {arXiv:1905.06208},
  year   = {2019}
}""",
    "Waudby-SmithRamdas2023": """@article{Waudby-SmithRamdas2023,
  author  = {Ian Waudby-Smith and Aaditya Ramdas},
  title   = {Estimating Means of Bounded Random Variables by Betting},
  journal = {Journal of the Royal Statistical Society, Series B},
  volume  = {86},
  number  = {1},
  pages   = {1--27},
  year    = {2024},
  note    = {first published online in 2023}
}""",
    "Park2011": """@inproceedings{Park2011,
  author    = {Laurence A. F. Park},
  title     = {Bootstrap Confidence Intervals for Mean Average Precision},
  booktitle = {Proceedings of the Fourth Annual ASEARC Conference},
  year      = {2011}
}""",
    "Soboroff2014": """@inproceedings{Soboroff2014,
  author    = {Ian Soboroff},
  title     = {Computing Confidence Intervals for Common {IR} Measures},
  booktitle = {Proceedings of the Sixth International Workshop on Evaluating Information Access (EVIA)},
  year      = {2014}
}""",
    "Cormack2006": """@inproceedings{Cormack2006,
  author    = {Gordon V. Cormack and Thomas R. Lynam},
  title     = {Statistical Precision of Information Retrieval Evaluation},
  booktitle = {Proceedings of the 29th Annual International ACM SIGIR Conference},
  pages     = {533--540},
  year      = {2006}
}""",
    "Bestgen2015": """@article{Bestgen2015,
  author  = {Yves Bestgen},
  title   = {Exact Expected Average Precision of the Random Baseline for System Evaluation},
  journal = {The Prague Bulletin of Mathematical Linguistics},
  volume  = {103},
  pages   = {131--138},
  year    = {2015},
  doi     = {10.1515/pralin-2015-0007}
}""",
    "Zhang2013": """@inproceedings{Zhang2013,
  author    = {Peng Zhang and Dawei Song and Jun Wang and Yuexian Hou},
  title     = {Bias-Variance Decomposition of {IR} Evaluation},
  booktitle = {Proceedings of the 36th International ACM SIGIR Conference},
  pages     = {1021--1024},
  year      = {2013}
}""",
    "Holm1979": """@article{Holm1979,
  author  = {Sture Holm},
  title   = {A Simple Sequentially Rejective Multiple Test Procedure},
  journal = {Scandinavian Journal of Statistics},
  volume  = {6},
  number  = {2},
  pages   = {65--70},
  year    = {1979}
}""",
}


_CITED = re.compile(r"([A-Z][\w-]+(?: & [A-Z][\w-]+)?) (\d{4})")


def methods_text(contents: Contents) -> MethodsText:
    """Return the paragraph that says how a report's numbers came about."""
    release = version("confir")
    parts = [
        *_scores(contents, release),
        *_means(contents),
        *_pairs(contents),
        *_studies(contents),
        Sentence(f"The seed of all random numbers was {contents.settings.seed}."),
    ]
    paragraph = " ".join(sentence.text for sentence in parts)
    latex = " ".join(map(_in_latex, parts))
    cited = dict.fromkeys(key for sentence in parts for key in sentence.cites)
    entries = [REFERENCES[key] % release if key == "confir" else REFERENCES[key] for key in cited]
    return MethodsText(paragraph, latex, "\n\n".join(entries))


def _in_latex(sentence: Sentence) -> str:
    """Return a sentence for LaTeX, with the keys of what it cites."""
    cited = f"~\\cite{{{','.join(sentence.cites)}}}" if sentence.cites else ""
    return f"{escape_latex(sentence.text.removesuffix('.'))}{cited}."


def cited_keys(source: str) -> tuple[str, ...]:
    """Return the keys of the works that a text such as "Efron 1987; Park 2011" names."""
    return tuple(name.replace(" & ", "") + year for name, year in _CITED.findall(source))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _scores(contents: Contents, release: str) -> Iterator[Sentence]:
    scores = contents.scores
    were = "was" if len(scores.runs) == 1 else "were"
    yield Sentence(
        f"{counted(len(scores.runs), 'run')} {were} scored by {_listed(scores.measures)} over "
        f"{counted(len(scores.topics), 'topic')} (confir {release}).",
        ("confir",),
    )
    if np.isnan(scores.values).any():
        yield Sentence("A topic without a score is left out of the run's mean.")
    elif contents.quality is not None and any(contents.quality.missing):
        yield Sentence("A topic that a run lacks scores 0.")


def _means(contents: Contents) -> Iterator[Sentence]:
    """Yield how means and ranks got their intervals: a sentence for each method."""
    if len(contents.scores.topics) < 2:
        return
    settings = contents.settings
    intervals = [part.intervals[settings.level] for part in contents.measures]
    for method in dict.fromkeys(interval.method for interval in intervals):
        measures = [
            part.measure
            for part, interval in zip(contents.measures, intervals, strict=True)
            if interval.method == method
        ]
        by = "" if len(measures) == len(contents.measures) else f" by {_listed(measures)}"
        source = METHODS[method].source.partition(" (")[0]
        drawn = next(interval.replicates for interval in intervals if interval.method == method)
        yield Sentence(
            f"Means{by} carry {percent(settings.level)} confidence intervals over topics by the "
            f"method {method} ({source}{f', {drawn:,} replicates' if drawn else ''}).",
            cited_keys(source),
        )
    assumed = [name for interval in intervals for name in interval.assumed]
    if assumed:
        yield Sentence(f"The measure{'s' if len(assumed) > 1 else ''} {bounds_note(assumed)}.")
    if any(part.rankings for part in contents.measures):
        yield Sentence(
            f"Rank intervals and the share of replicates in which a run is best are from a "
            f"bootstrap over topics ({settings.replicates:,} replicates; Efron 1979).",
            ("Efron1979",),
        )


def _pairs(contents: Contents) -> Iterator[Sentence]:
    comparison = next(
        (
            part.comparisons[contents.settings.level]
            for part in contents.measures
            if part.comparisons
        ),
        None,
    )
    if comparison is None:
        return
    error = f"{1 - comparison.level:.4g}"
    constant = ""
    if np.isnan(comparison.se).any():
        constant = "; where all topics showed the same difference, by the exact sign-flip test"
    by = f"with {comparison.method} intervals of the difference and a paired {comparison.tests[0]} test"
    if len(comparison.first) == 1:
        yield Sentence(
            f"The two runs were compared {by}; a difference is called significant where p is at "
            f"most {error} and the interval excludes 0{constant}."
        )
        return
    holm = comparison.correction == "holm"
    yield Sentence(
        f"All {len(comparison.first):,} pairs of runs were compared {by}, p-values adjusted by "
        f"{'Holm (1979)' if holm else comparison.correction} within each measure; a difference "
        f"is called significant where the adjusted p is at most {error} and the interval excludes "
        f"0{constant}.",
        ("Holm1979",) if holm else (),
    )


def _studies(contents: Contents) -> Iterator[Sentence]:
    """Yield how the parts besides means and pairs came about."""
    parts = contents.measures
    if any(part.coverage is not None for part in parts):
        yield Sentence(
            f"The coverage of the intervals was estimated on these scores, from "
            f"{COVERAGE_SAMPLES} samples of topics drawn with replacement, after Soboroff (2014).",
            ("Soboroff2014",),
        )
    if contents.collection is not None:
        yield Sentence(
            f"The influence of the document collection on {contents.collection.means.measures[0]} "
            f"was estimated by a bootstrap of its documents, shared by all topics and runs "
            f"({COLLECTION_REPLICATES} replicates), after Cormack & Lynam (2006).",
            ("Cormack2006",),
        )
    if any(part.bias_variance is not None for part in parts):
        yield Sentence(
            "Bias is the mean of the best score of each topic less the mean of the run, variance that "
            "of its scores over topics, after Zhang et al. (2013).",
            ("Zhang2013",),
        )
    if any(part.chance is not None for part in parts):
        size = ", those that qrels and runs mention" if contents.documents_counted else ""
        yield Sentence(
            f"Chance is the exact expectation over random rankings of {contents.documents:,} "
            f"documents{size}, after Bestgen (2015).",
            ("Bestgen2015",),
        )
