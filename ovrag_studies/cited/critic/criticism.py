"""A critic of policy prose: passages that argue where a policy should rule, with the span and the reason.

Six labels, those of Policy Copilot (COMP3931, University of Leeds, 2026). Rules come first and say why; weights that
were learned from examples add what no rule foresaw. Both run offline. A chat model can be asked instead
(`critic_chat`).
"""

from ovrag_core.retrieval import Embedder, minilm
from ovrag_studies.cited.critic.critic_learned import by_weights
from ovrag_studies.cited.critic.critic_rules import LABELS, NAMES, CriticFinding, by_rules, in_order

__all__ = ["LABELS", "NAMES", "CriticFinding", "by_rules", "criticise"]


def criticise(text: str, embedder: Embedder | None = None) -> tuple[CriticFinding, ...]:
    """Find the prose of `text` that argues instead of ruling, in order of place; nothing for an empty text.

    The embedder is the bundled one, where none is given, and must be the one the weights were learned with. What was
    learned is added where the rules found nothing under the same label that it overlaps.
    """
    ruled = by_rules(text)
    learned = (
        finding
        for finding in by_weights(text, embedder or minilm())
        if not any(rule.label == finding.label and _overlap(rule, finding) for rule in ruled)
    )
    return in_order([*ruled, *learned])


def _overlap(first: CriticFinding, second: CriticFinding) -> bool:
    return first.start < second.end and second.start < first.end
