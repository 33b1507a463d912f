"""A second look at texts beside a question: by sentences, and by a cross-encoder."""

from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest
import torch
import transformers

from ovrag_core.base.errors import ModelSetupError, SettingsError
from ovrag_core.retrieval.embedding import Vectors
from ovrag_core.retrieval.rerank import find_reranker

TEXTS = ["the buyer pays", "the laws of scotland", "marine insurance"]


class Letters:
    """An embedder that counts letters: quick, and alike for like words."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> Vectors:
        counted = [[1e-3 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        vectors = numpy.array(counted, dtype=numpy.float32).reshape(len(texts), 26)
        return (vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)).astype(numpy.float32)


def test_by_sentences_a_text_is_worth_its_nearest_sentence() -> None:
    score = find_reranker("sentences", Letters())
    first, second = score("insurance", ["The sun is up. Insurance", "The sun is up."])
    assert first > second
    with pytest.raises(SettingsError, match="unknown reranker"):
        find_reranker("oracle", Letters())


def save_cross_encoder(folder: Path) -> Path:
    """Write a cross-encoder of two layers with random weights, as `sentence-transformers` saves one, into `folder`."""
    words = sorted(set(" ".join([*TEXTS, "who pays the insurance"]).split()))
    (folder / "words.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]), encoding="utf-8"
    )
    transformers.BertTokenizer(str(folder / "words.txt")).save_pretrained(folder)
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(words) + 5,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        num_labels=1,
        initializer_range=1.0,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def test_a_cross_encoder_reads_question_and_text_together(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path)
    score = find_reranker("cross-encoder", Letters(), folder)
    values = score("who pays", TEXTS)
    model = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    tokens = transformers.BertTokenizer.from_pretrained(folder)(
        ["who pays"] * 3, TEXTS, padding=True, return_tensors="pt"
    )
    with torch.no_grad():
        logits = model(**tokens).logits[:, 0]
    assert values == pytest.approx(torch.sigmoid(logits).tolist(), abs=1e-5)
    assert score("the laws", TEXTS) != values, "the question counts"
    assert score("who pays", TEXTS[::-1]) == pytest.approx(values[::-1], abs=1e-5), "scores stay beside their TEXTS"


def test_missing_or_broken_weights_are_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelSetupError, match=r"holds no cross-encoder.*or rerank by sentences") as raised:
        find_reranker("cross-encoder", Letters(), tmp_path)
    assert "\n" not in str(raised.value)
    with pytest.raises(SettingsError, match="needs cache_dir"):
        find_reranker("cross-encoder", Letters())
    save_cross_encoder(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelSetupError, match="cannot be loaded") as raised:
        find_reranker("cross-encoder", Letters(), tmp_path)
    assert "\n" not in str(raised.value)
