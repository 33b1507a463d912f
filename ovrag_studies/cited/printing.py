"""Answers and figures as text for people."""

from collections.abc import Mapping

import pandas

from ovrag_core.evaluation import Estimate
from ovrag_core.study import told
from ovrag_studies.cited.corpus.policies import Paragraph
from ovrag_studies.cited.measuring.golden_scores import Scored
from ovrag_studies.cited.records import ConflictRecord, PolicyRecord


def answer_text(record: PolicyRecord, paragraphs: Mapping[str, Paragraph]) -> str:
    """Return an answer with its quotations, or silence with its reason; headings stand on lines of their own."""
    lines = [f"(silent: {record.reason})"] if record.silent else []
    for sentence in record.sentences:
        cites = sentence.citations
        lines.append(paragraphs[cites[0].paragraph_id].apart(sentence.text) if cites else sentence.text)
        for cited in cites:
            quote = paragraphs[cited.paragraph_id].apart(" ".join(cited.quote.split())).replace("\n", "\n    ")
            lines.append(f'    {cited.doc_id}, page {cited.page}, {cited.start}–{cited.end}: "{quote}"')
    lines += [f"removed: {removed.text} ({removed.why})" for removed in record.removed]
    for conflict in record.conflicts:
        lines += _conflict(conflict)
    lines += [f"note: {notice}" for notice in record.notices]
    threshold = "" if record.threshold is None else f", threshold {record.threshold:.3f}"
    lines.append(f"score {record.confidence:.3f}{threshold}")
    lines += [
        f"{component} was to be {requested}, and was {record.ran.get(component)}"
        for component, requested in record.requested.items()
        if record.ran.get(component) != requested
    ]
    return "\n".join(lines)


def _conflict(conflict: ConflictRecord) -> list[str]:
    if conflict.prevails and conflict.clause:
        why = f'by {conflict.clause.doc_id}: "{conflict.clause.text}"'
    else:
        why = "the later one prevails" if conflict.prevails else "no clause says which of them prevails"
    sides = []
    for name, side in (("first", conflict.first), ("second", conflict.second)):
        word = "prevails" if name == conflict.prevails else "against"
        sides.append(f'    {word}: {side.doc_id}, {side.start}–{side.end}: "{side.text}"')
    return [f"conflict, {conflict.status}: {why}", *sides]


def figures_text(figures: Scored, differences: pandas.DataFrame) -> str:
    """Return figures by measure and arm, and McNemar's tests below."""
    lines = []
    for measure in dict.fromkeys(name for measures in figures.values() for name in measures):
        lines.append(measure)
        lines += [f"    {arm:<16} {estimate_text(measures[measure])}" for arm, measures in figures.items()]
    for row in differences.itertuples():
        lines.append(
            f"{row.arm} against {row.other}: right alone {row.only_arm_right} : {row.only_other_right} "
            f"of {row.queries}, p = {row.p:.4f} (McNemar, exact), {row.p_holm:.4f} after Holm"
        )
    return "\n".join(lines)


def value_text(estimate: Estimate) -> str:
    """Return a figure with its interval."""
    return "–" if estimate.value is None else told(estimate)


def estimate_text(estimate: Estimate) -> str:
    """Return a figure with its interval and what it is of."""
    return value_text(estimate) + ("" if estimate.value is None else f" (n = {estimate.clusters})")
