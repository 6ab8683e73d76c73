"""Results and files of MTEB and sentence-transformers: read without change of their numbers.

The model is tiny, random and made here; nothing is fetched from a hub.
"""

import json
import os
import random
import warnings

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}

import datasets
import mteb
import numpy as np
import pytest
import torch
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from sentence_transformers import SentenceTransformer, util
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

import confir
from confir.errors import FormatError, InputWarning

pytestmark = pytest.mark.filterwarnings("ignore")

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [f"w{number}" for number in range(200)]


def texts(prefix, count, length, seed):
    rng = random.Random(seed)  # noqa: S311
    return {f"{prefix}{i}": " ".join(rng.choices(WORDS, k=length)) for i in range(count)}


CORPUS = texts("d", 60, 6, 1)
QUERIES = texts("q", 12, 4, 2)
_CHOICE = random.Random(3)  # noqa: S311
RELEVANT = {query: set(_CHOICE.sample(list(CORPUS), 4)) for query in QUERIES}
GAINS = {
    query: {document: 1 + place % 2 for place, document in enumerate(sorted(documents))}
    for query, documents in RELEVANT.items()
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A random model of one layer, saved and loaded like any other."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("model")
    vocabulary = {word: place for place, word in enumerate([*SPECIAL, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    names = zip(("pad", "unk", "cls", "sep", "mask"), SPECIAL, strict=True)
    tokens = {f"{name}_token": token for name, token in names}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **tokens).save_pretrained(folder)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(vocab_size=len(vocabulary), intermediate_size=16, **shape)
    BertModel(config).save_pretrained(folder)
    made = SentenceTransformer(modules=[Transformer(str(folder)), Pooling(16)], device="cpu")
    made.save(str(folder / "whole"))
    return SentenceTransformer(str(folder / "whole"), device="cpu")


@pytest.fixture(scope="module")
def evaluated(model, tmp_path_factory):
    """An evaluator of sentence-transformers after its work, its scores, and its predictions."""
    folder = tmp_path_factory.mktemp("predictions")
    evaluator = InformationRetrievalEvaluator(
        *(QUERIES, CORPUS, RELEVANT),
        name="tiny",
        write_predictions=True,
        map_at_k=[60],
        mrr_at_k=[60],
    )
    scores = evaluator(model, output_path=str(folder))
    (predictions,) = folder.glob("*.jsonl")
    return evaluator, scores, predictions


EXPECTED = {
    "nDCG@10": "tiny_cosine_ndcg@10",
    "RR": "tiny_cosine_mrr@60",
    "P@5": "tiny_cosine_precision@5",
    "R@10": "tiny_cosine_recall@10",
    "Success@3": "tiny_cosine_accuracy@3",
}


def test_predictions_and_judgements_of_sentence_transformers_give_its_means(evaluated):
    evaluator, theirs, predictions = evaluated
    ours = confir.evaluate(evaluator.relevant_docs, predictions, list(EXPECTED))
    assert ours.topics == tuple(sorted(QUERIES))
    np.testing.assert_allclose(
        ours.mean()[0], [theirs[name] for name in EXPECTED.values()], atol=1e-12
    )


def test_a_semantic_search_is_a_run(model, evaluated):
    evaluator, _, predictions = evaluated
    documents = list(CORPUS)
    found = util.semantic_search(
        model.encode(list(QUERIES.values()), convert_to_tensor=True),
        model.encode(list(CORPUS.values()), convert_to_tensor=True),
        top_k=60,
    )
    assert found[0][0].keys() == {"corpus_id", "score"}
    run = dict(zip(QUERIES, found, strict=True))  # documents are places in the corpus
    gains = {q: {documents.index(d) for d in relevant} for q, relevant in RELEVANT.items()}
    ours = confir.evaluate(gains, run, ["nDCG@10"])
    same = confir.evaluate(evaluator.relevant_docs, predictions, ["nDCG@10"])
    np.testing.assert_allclose(ours.mean(), same.mean(), atol=1e-6)
    several = confir.evaluate(gains, {"a": run, "b": run}, ["nDCG@10"])
    assert several.runs == ("a", "b")


def test_a_document_found_twice_is_an_error():
    with pytest.raises(FormatError, match="document '1' occurs twice in a topic"):
        confir.as_run({"q": [{"corpus_id": 1, "score": 0.2}, {"corpus_id": 1, "score": 0.1}]})


def task(name, subsets):
    """A retrieval task of MTEB whose data are made here: one subset, or several."""
    languages = ["eng-Latn"] if subsets == ["default"] else {key: ["eng-Latn"] for key in subsets}

    class Tiny(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name=name,
            description="made for a test",
            dataset={"path": f"local/{name}", "revision": "1"},
            type="Retrieval",
            category="t2t",
            eval_splits=["test"],
            eval_langs=languages,
            main_score="ndcg_at_10",
        )

        def load_data(self, *_, **__):
            def rows(held):
                return datasets.Dataset.from_list([{"id": i, "text": t} for i, t in held.items()])

            for place, subset in enumerate(subsets):
                chosen = dict(list(QUERIES.items())[place:])
                self.dataset = {
                    **(getattr(self, "dataset", None) or {}),
                    subset: {
                        "test": {
                            "corpus": rows(CORPUS),
                            "queries": rows(chosen),
                            "relevant_docs": {query: GAINS[query] for query in chosen},
                            "top_ranked": None,
                        }
                    },
                }
            self.data_loaded = True

    return Tiny()


@pytest.fixture(scope="module")
def leaderboard(model, tmp_path_factory):
    """What MTEB returns and writes for two tasks, one of them with two subsets."""
    folder = tmp_path_factory.mktemp("mteb")
    tasks = [task("TinyRetrieval", ["default"]), task("TinySubsets", ["first", "second"])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cache = mteb.ResultCache(folder / "cache")
        results = mteb.evaluate(
            model, tasks, cache=cache, prediction_folder=folder, co2_tracker=False
        )
    return results, folder


def main_scores(results):
    return {
        (result.task_name, entry["hf_subset"]): entry["main_score"]
        for result in results.task_results
        for entry in result.scores["test"]
    }


def test_predictions_of_mteb_give_its_main_scores(leaderboard):
    results, folder = leaderboard
    theirs = main_scores(results)
    assert set(theirs) == {
        *(("TinyRetrieval", "default"), ("TinySubsets", "first"), ("TinySubsets", "second"))
    }
    for (name, subset), expected in theirs.items():
        (path,) = folder.rglob(f"{name}_predictions.json")
        kept = dict(list(GAINS.items())[1 if subset == "second" else 0 :])
        ours = confir.evaluate(kept, path, ["nDCG@10"], subset=subset)
        assert ours.mean().item() == pytest.approx(expected, abs=5e-6)  # MTEB rounds to 5 decimals


def test_results_of_mteb_are_scores_as_objects_and_as_files(leaderboard):
    results, folder = leaderboard
    theirs = main_scores(results)
    for source in (results, [results], {results.model_name: results}, results.task_results):
        with pytest.warns(InputWarning, match="results of MTEB are means; their datasets stand"):
            scores = confir.as_scores(source)
        assert scores.measures == ("nDCG@10",)
        assert scores.topics == ("TinyRetrieval", "TinySubsets")
        whole, *subsets = theirs.values()
        np.testing.assert_allclose(scores.values.ravel(), [whole, np.mean(subsets)], rtol=1e-12)
    assert confir.as_scores({"mine": results}).runs == ("mine",)
    assert confir.as_scores(results).runs == (results.model_name,)
    files = [
        path for path in folder.rglob("Tiny*.json") if "task_name" in json.loads(path.read_text())
    ]
    assert len(files) == 2
    read = confir.as_scores([str(path) for path in files])
    np.testing.assert_allclose(read.values, scores.values, atol=1e-6)  # MTEB rounds in files


def test_judgements_of_a_task_are_qrels(leaderboard):
    assert leaderboard
    made = task("Again", ["default"])
    made.load_data()
    held = made.dataset["default"]["test"]["relevant_docs"]
    assert confir.as_qrels(held).to_dict() == GAINS


def test_intervals_come_in_one_line(evaluated, leaderboard):
    evaluator, _, predictions = evaluated
    scores = confir.evaluate(evaluator.relevant_docs, predictions, ["nDCG@10"])
    interval = confir.confidence_interval(scores)
    assert interval.low.item() < scores.mean().item() < interval.high.item()
    whole = confir.confidence_interval(leaderboard[0])
    assert whole.to_records()[0]["topics"] == 3
