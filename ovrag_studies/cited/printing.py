"""Answers, findings of a critic and figures as text for people, on the command line and in the notebook."""

from collections.abc import Sequence

import pandas

from ovrag_core.evaluation import Estimate
from ovrag_core.study import told
from ovrag_studies.cited.critic.critic_rules import NAMES, CriticFinding
from ovrag_studies.cited.measuring.golden_scores import Scored
from ovrag_studies.cited.records import PolicyRecord


def answer_text(record: PolicyRecord) -> str:
    """Return an answer with its quotations, or silence with its reason."""
    lines = [f"(silent: {record.reason})"] if record.silent else []
    for sentence in record.sentences:
        lines.append(sentence.text)
        for cited in sentence.citations:
            quote = " ".join(cited.quote.split())
            lines.append(f'    {cited.doc_id}, page {cited.page}, {cited.start}–{cited.end}: "{quote}"')
    lines += [f"removed: {removed.text} ({removed.why})" for removed in record.removed]
    for conflict in record.conflicts:
        clause = conflict.clause
        why = f'by {clause.doc_id}: "{clause.text}"' if clause else "no clause says which of them prevails"
        lines.append(f"conflict, {conflict.status}: {why}")
        for name, side in (("first", conflict.first), ("second", conflict.second)):
            word = "prevails" if name == conflict.prevails else "against"
            lines.append(f'    {word}: {side.doc_id}, {side.start}–{side.end}: "{side.text}"')
    lines += [f"note: {notice}" for notice in record.notices]
    threshold = "" if record.threshold is None else f", threshold {record.threshold:.3f}"
    lines.append(f"score {record.confidence:.3f}{threshold}")
    lines += [
        f"{component} was to be {requested}, and was {record.ran.get(component)}"
        for component, requested in record.requested.items()
        if record.ran.get(component) != requested
    ]
    return "\n".join(lines)


def findings_text(text: str, findings: Sequence[CriticFinding], name: str = "") -> str:
    """Return what a critic found in a text, a line each, with place, words and reason; `name` stands before each."""
    return "\n".join(
        f"{name}{finding.start}–{finding.end}: {finding.label} {NAMES[finding.label]}: "
        f"{' '.join(text[finding.start : finding.end].split())!r} ({finding.why})"
        for finding in findings
    )


def figures_text(figures: Scored, differences: pandas.DataFrame) -> str:
    """Return figures by measure and arm, with what they are of, and McNemar's tests below."""
    lines = []
    for measure in dict.fromkeys(name for measures in figures.values() for name in measures):
        lines.append(measure)
        for arm, measures in figures.items():
            estimate = measures[measure]
            counted = "" if estimate.value is None else f" (n = {estimate.clusters})"
            lines.append(f"    {arm:<16} {value_text(estimate)}{counted}")
    for row in differences.itertuples():
        lines.append(
            f"{row.arm} against {row.other}: right alone {row.only_arm_right} : {row.only_other_right} "
            f"of {row.queries}, p = {row.p:.4f} (McNemar, exact), {row.p_holm:.4f} after Holm"
        )
    return "\n".join(lines)


def value_text(estimate: Estimate) -> str:
    """Return a figure with its interval."""
    return "–" if estimate.value is None else told(estimate)
