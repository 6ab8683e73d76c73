"""All names of measures, and helpful messages for wrong names."""

import pytest

from confir.errors import InvalidValueError, UnknownNameError
from confir.measures.measure_list import DEFAULT_MEASURES, MEASURES
from confir.measures.parsing import canonical_name, parse_measure, parse_measures

# The names that trec_eval prints for the measures of the catalogue.
TREC_EVAL_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TREC_EVAL = {
    "map": "AP",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "recip_rank": "RR",
    "ndcg": "nDCG",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    **{f"success_{cutoff}": f"Success@{cutoff}" for cutoff in (1, 5, 10)},
    **{
        f"{theirs}_{cutoff}": f"{ours}@{cutoff}"
        for theirs, ours in {"P": "P", "recall": "R", "ndcg_cut": "nDCG", "map_cut": "AP"}.items()
        for cutoff in TREC_EVAL_CUTOFFS
    },
}


@pytest.mark.parametrize(("theirs", "ours"), TREC_EVAL.items())
def test_names_of_trec_eval_are_synonyms(theirs, ours):
    assert str(parse_measure(theirs)) == ours
    # As asked for on its command line.
    family, _, cutoff = theirs.rpartition("_")
    if cutoff.isdigit():
        assert str(parse_measure(f"{family}.{cutoff}")) == ours


def test_every_shared_name_in_an_output_of_trec_eval_is_known(real_data):
    output = real_data / "trec_eval-tests" / "test" / "out.test.aq"
    with output.open() as file:
        printed = {line.split()[0] for line in file}
    assert set(TREC_EVAL) <= printed


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("MAP", "AP"),
        ("R-prec", "Rprec"),
        ("RPrec", "Rprec"),
        ("r-precision", "Rprec"),
        ("P10", "P@10"),
        ("Precision@5", "P@5"),
        ("Recall@5", "R@5"),
        ("MRR@10", "RR@10"),
        ("NDCG@5", "nDCG@5"),
        ("BPref", "Bpref"),
        ("hit_rate@3", "Success@3"),
        ("Q-measure", "Q"),
        ("α_nDCG@5", "alpha_nDCG@5"),
        ("alpha-nDCG@5", "alpha_nDCG@5"),
        ("ERR-IA@5", "ERR_IA@5"),
        ("nERR-IA@5", "nERR_IA@5"),
        ("strec@5", "StRecall@5"),
        ("IRec@10", "StRecall@10"),
        ("ndcg_at_10", "nDCG@10"),
        ("mrr_at_10", "RR@10"),
        ("map_at_10", "AP@10"),
        ("recall_at_100", "R@100"),
        ("precision_at_1", "P@1"),
        ("hit_rate_at_5", "Success@5"),
        ("nDCG(gains={0: 0, 1: 4})@10", "nDCG(gains='0:0,1:4')@10"),
        ("nDCG(dcg = exp-log2 ,)@10", "nDCG(dcg='exp-log2')@10"),
        ("D-nDCG@10", "D_nDCG@10"),
        ("D#-nDCG@10", "DS_nDCG@10"),
        ("D♯-nDCG@10", "DS_nDCG@10"),
        (" AP ", "AP"),
        ("AP(rel=1)", "AP"),
        ("AP( rel = 2 )@5", "AP(rel=2)@5"),
        ("AP(rel=2.0)", "AP(rel=2)"),
        ("RBP(rel=1)", "RBP(rel=1)"),
        ("RBP(rel=1, p=0.8)", "RBP(rel=1)"),
        ("Q(beta=2.0)", "Q(beta=2)"),
        ("Q(beta=1.0)", "Q"),
        ('nDCG(dcg="exp-log2")@10', "nDCG(dcg='exp-log2')@10"),
        ("nDCG(dcg=exp-log2)@10", "nDCG(dcg='exp-log2')@10"),
        ("nDCG(gains='1:1,2:3')", "nDCG(gains='1:1,2:3')"),
    ],
)
def test_one_measure_has_one_canonical_name(spelling, name):
    assert str(parse_measure(spelling)) == name
    assert canonical_name(spelling) == name


def test_the_relevance_level_is_taken_where_a_measure_has_one_and_names_none():
    assert str(parse_measure("AP", rel=2)) == "AP(rel=2)"
    assert str(parse_measure("AP(rel=3)", rel=2)) == "AP(rel=3)"
    assert str(parse_measure("nDCG@10", rel=2)) == "nDCG@10"


def test_parsed_measures_are_taken_as_they_are():
    measure = parse_measure("AP(rel=2)@10")
    assert parse_measure(measure) is measure


def test_unknown_names_stay_in_score_tables():
    assert canonical_name("ndcg_rel") == "ndcg_rel"
    assert canonical_name("P") == "P"


def test_the_default_measures_are_spelt_canonically():
    assert [str(parse_measure(name)) for name in DEFAULT_MEASURES] == list(DEFAULT_MEASURES)


def test_no_two_measures_share_a_name():
    owners = {}
    for definition in MEASURES.values():
        for spelling in (definition.name, *definition.synonyms):
            folded = spelling.casefold().replace("-", "_")
            if spelling == "rbp":  # distinguished from RBP by case
                continue
            assert owners.setdefault(folded, definition.name) == definition.name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDGC@10", r"unknown measure 'nDGC@10'; did you mean nDCG@10"),
        ("ndcg_rel", "unknown measure 'ndcg_rel'"),
        ("gm_map", "unknown measure 'gm_map'"),
        ("", "unknown measure ''"),
        ("@10", "unknown measure '@10'"),
        ("P@-1", "unknown measure 'P@-1'"),
        ("AP(rel=2", r"unknown measure 'AP\(rel=2'"),
        ("P@\u0661\u0660", "unknown measure 'P@\u0661\u0660'"),
        ("P@1_0", "unknown measure 'P@1_0'"),
        ("AP(depth=3)", "unknown parameter of AP 'depth'; known: rel"),
    ],
)
def test_unknown_names_are_met_with_the_nearest_ones(name, message):
    with pytest.raises(UnknownNameError, match=message):
        parse_measure(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("P", "'P' needs a cutoff, as in P@10"),
        ("recall", "'recall' needs a cutoff, as in R@10"),
        ("ndcg_cut", "'ndcg_cut' needs a cutoff, as in nDCG@10"),
        ("map_cut", "'map_cut' needs a cutoff, as in AP@10"),
        ("Rprec@10", "Rprec takes no cutoff"),
        ("P@0", "the cutoff is 0; expected 1"),
        ("P@99999999999999999999", "the cutoff is 99999999999999999999; expected 1"),
        (f"P@{'1' * 5000}", r"'P@1{18}…': the cutoff has 5,000 digits; expected 1 to 2147483647"),
        (f"P{'1' * 5000}", r"'P1{19}…': the cutoff has 5,000 digits; expected 1 to 2147483647"),
        ("AP(rel=1_0)", "rel='1_0' is not allowed"),
        ("AP(rel=0)", "rel=0 is not allowed; expected 1 to"),
        ("AP(rel=1.5)", r"rel=1\.5 is not allowed"),
        ("AP(rel=true)", "rel='true' is not allowed"),
        ("AP(rel=99999999999)", "rel=99999999999.0 is not allowed"),
        ("AP(rel=2,rel=3)", "rel is given twice"),
        ("AP(rel)", "is not a list of parameters"),
        ("AP(rel=)", "is not a list of parameters"),
        ("nDCG(dcg='ln')", "dcg='ln' is not allowed; expected 'log2' or 'exp-log2'"),
        ("nDCG(gains=3)", "gains=3 is not allowed; expected text, such as '1:1,2:3'"),
        ("RBP(p=nan)", "p=nan is not allowed; expected a finite number"),
        ("RBP(p=half)", "p='half' is not allowed"),
        ("ERR(gmax=1e400)", "gmax=inf is not allowed; expected a whole number"),
    ],
)
def test_impossible_values_are_refused(name, message):
    with pytest.raises(InvalidValueError, match=message):
        parse_measure(name)


def test_rbp_is_that_of_trec_eval_and_other_spellings_are_not():
    assert str(parse_measure("rbp")) == "rbp"
    assert parse_measure("rbp").value("p") == 0.9
    assert str(parse_measure("rbp(p=0.8)")) == "rbp(p=0.8)"
    assert str(parse_measure("RBP")) == str(parse_measure("Rbp")) == "RBP"
    with pytest.raises(InvalidValueError, match="rbp takes no cutoff"):
        parse_measure("rbp_10")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("rbp_resid", "rbp"),
        ("gm_map", "AP"),
        ("relative_P_5", "P"),
        ("ndcg_rel", "nDCG"),
        ("Rndcg", "nDCG or D_nDCG"),
        ("map_avgjg", "AP"),
        ("Rprec_mult_1.00", "Rprec"),
        ("num_nonrel_judged_ret", "NumRelRet"),
    ],
)
def test_measures_of_trec_eval_that_confir_lacks_are_refused_with_the_nearest(name, nearest):
    with pytest.raises(UnknownNameError, match=rf"did you mean {nearest}\?"):
        parse_measures(name)
