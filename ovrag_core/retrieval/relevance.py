"""Score how surely a text answers a question, by learned weights.

Question and text are read together, by the bundled sentence embedder with low-rank adapters (Hu et al. 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from pathlib import Path

from safetensors import SafetensorError

from ovrag_core.base import SettingsError, read_tensors
from ovrag_core.retrieval.encoder import Encoder
from ovrag_core.text import find_passages

QUESTION_TOKENS = 64
TOKENS = 192  # of question and paragraph together
INNER = 1e-4  # chances nearer to 0 or 1 count as this; probabilities come with four decimals
KNOWN = 5_000  # pairs from which on their judgements are forgotten


class RelevanceReader:
    """Reads pairs of question and text; what was read before is kept."""

    def __init__(self, weights: Path) -> None:
        try:
            self._encoder = Encoder(read_tensors(weights)[0])
        except (OSError, SafetensorError):
            raise SettingsError(
                f"{weights} cannot be read; tools/train_policy_reader.py or tools/train_passages.py makes it"
            ) from None
        self._known: dict[tuple[str, str], float] = {}

    def judge(self, question: str, paragraphs: Sequence[str]) -> list[float]:
        """For each paragraph the log-odds that it answers: the mean of those of the whole and of its best window."""
        windows = [windows_of(text) for text in paragraphs]
        texts = list(dict.fromkeys([*paragraphs, *(window for text_windows in windows for window in text_windows)]))
        odds = dict(zip(texts, self.read(question, texts), strict=True))
        return [
            (odds[text] + max(odds[window] for window in text_windows)) / 2
            for text, text_windows in zip(paragraphs, windows, strict=True)
        ]

    def read(self, question: str, texts: Sequence[str]) -> list[float]:
        """For each text the log-odds that it answers the question, between -9.3 and 9.3."""
        if len(self._known) > KNOWN:
            self._known.clear()
        new = [text for text in dict.fromkeys(texts) if (question, text) not in self._known]
        question_ids = self._encoder.tokens(question).ids
        joined = [join_question(question_ids, self._encoder.tokens(text).ids) for text in new]
        judged = self._encoder.probabilities([ids for ids, _ in joined], [marks for _, marks in joined], 2)[:, 0, 1]
        self._known |= {(question, text): log_odds(float(share)) for text, share in zip(new, judged, strict=True)}
        return [self._known[question, text] for text in texts]


def log_odds(chance: float) -> float:
    """The log-odds of a chance, which counts as INNER where it is nearer to 0 or 1."""
    inner = min(max(chance, INNER), 1 - INNER)
    return log(inner / (1 - inner))


def join_question(question: Sequence[int], paragraph: Sequence[int]) -> tuple[list[int], list[list[bool]]]:
    """The tokens of both, each of which begins with the sign of a text and ends with that of its end, as one passage.

    Its marks: which tokens are the question's, which the paragraph's, and the first, which stands for the whole.
    """
    asked = question[:-1][:QUESTION_TOKENS]
    ids = [*asked, question[-1], *paragraph[1:-1][: TOKENS - len(asked) - 2], paragraph[-1]]
    places = range(len(ids))
    marks = [
        [0 < n < len(asked) for n in places],
        [len(asked) < n < len(ids) - 1 for n in places],
        [n == 0 for n in places],
    ]
    return ids, marks


def windows_of(text: str, spans: Sequence[tuple[int, int]] | None = None) -> list[str]:
    """List each sentence (at `spans`, else all) behind the one before, on which it may lean; the whole without any."""
    if spans is None:
        spans = list(find_passages(text)) or [(0, len(text))]
    return [text[spans[max(0, row - 1)][0] : end] for row, (_, end) in enumerate(spans)]
