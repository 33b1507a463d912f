"""An answer with its trace, and prose with what a critic finds in it, as HTML. All text is untrusted and escaped.

What is returned is plain text: joined with other HTML it is not escaped again.
"""

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from ovrag_core.base import page_templates
from ovrag_studies.cited.arms import ArmParts
from ovrag_studies.cited.critic.critic_rules import NAMES, CriticFinding
from ovrag_studies.cited.records import PolicyRecord


def _filled(macro: str, *values: object) -> str:
    module = page_templates(__package__).get_template("answer.html.j2").module
    return str(getattr(module, macro)(*values))


def style() -> str:
    """The style sheet of everything here, once a page."""
    return _filled("style")


def message(text: str, kind: str = "note") -> str:
    """A sentence for the page; `kind` is note, good or bad."""
    return str(Markup('<div class="ovp"><p class="say {}">{}</p></div>').format(kind, text))


def answer_html(record: PolicyRecord, parts: ArmParts) -> str:
    """A query's answer with its quotations, and how it came about.

    Shown are the components that were asked for and that ran, the score with the certificate of its threshold, each
    sentence by the three rules, conflicts with their clause, and the evidence.
    """
    paragraphs = parts.paragraphs
    checks = [
        parts.verifier.supports(sentence.text, [paragraphs[cited.paragraph_id].text for cited in sentence.citations])
        for sentence in record.sentences
    ]
    certificate = parts.calibration.certificate.text if parts.calibration else "not calibrated"
    return _filled("answer", record, paragraphs, checks, certificate)


def criticism_html(text: str, findings: Sequence[CriticFinding]) -> str:
    """A text with the passages marked that findings are of, and the findings with their reasons."""
    return _filled("criticism", pieces(text, findings), findings, NAMES)


def pieces(text: str, findings: Sequence[CriticFinding]) -> list[tuple[str, list[str]]]:
    """The text cut at the ends of findings, each piece with the labels that it is in. Joined, they are the text."""
    cuts = sorted({0, len(text), *(edge for finding in findings for edge in (finding.start, finding.end))})

    def labels(start: int, end: int) -> list[str]:
        inside = (finding.label for finding in findings if finding.start <= start and end <= finding.end)
        return list(dict.fromkeys(inside))

    return [(text[start:end], labels(start, end)) for start, end in pairwise(cuts)]
