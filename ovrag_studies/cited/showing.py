"""An answer with its trace, and prose with what a critic finds in it, as HTML. All text is untrusted and escaped.

What is returned is plain text: joined with other HTML it is not escaped again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Protocol, cast

from markupsafe import Markup

from ovrag_core.base import page_templates
from ovrag_studies.cited.arms import ArmParts, Result
from ovrag_studies.cited.critic.criticism import NAMES, CriticFinding

TEMPLATE = "answer.html.j2"


class _Macros(Protocol):
    def style(self) -> Markup: ...

    def answer(self, result: Result, checks: object, certificate: str) -> Markup: ...

    def criticism(self, pieces: object, findings: object, names: object) -> Markup: ...


@cache
def _macros() -> _Macros:
    return cast("_Macros", page_templates(__package__).get_template(TEMPLATE).module)


def style() -> str:
    """The style sheet of everything here, once a page."""
    return str(_macros().style())


def message(text: str, kind: str = "note") -> str:
    """A sentence for the page; `kind` is note, good or bad."""
    return str(Markup('<div class="ovp"><p class="say {}">{}</p></div>').format(kind, text))


def answer_html(result: Result, parts: ArmParts) -> str:
    """A query's answer with its quotations, and how it came about.

    Shown are the components that were asked for and that ran, the score with the certificate of its threshold, each
    sentence by the three rules, conflicts with their clause, and the evidence.
    """
    texts = {name: paragraph.text for name, paragraph in parts.paragraphs.items()}
    checks = [
        parts.verifier.supports(sentence.text, [texts[citation.paragraph_id] for citation in sentence.citations])
        for sentence in result.answer.sentences
    ]
    certificate = parts.calibration.certificate.text if parts.calibration else "not calibrated"
    return str(_macros().answer(result, checks, certificate))


def criticism_html(text: str, findings: Sequence[CriticFinding]) -> str:
    """A text with the passages marked that findings are of, and the findings with their reasons."""
    return str(_macros().criticism(pieces(text, findings), findings, NAMES))


def pieces(text: str, findings: Sequence[CriticFinding]) -> list[tuple[str, list[str]]]:
    """The text cut at the ends of findings, each piece with the labels that it is in. Joined, they are the text."""
    cuts = sorted({0, len(text), *(edge for finding in findings for edge in (finding.start, finding.end))})
    return [(text[start:end], _labels(start, end, findings)) for start, end in pairwise(cuts)]


def _labels(start: int, end: int, findings: Sequence[CriticFinding]) -> list[str]:
    return list(dict.fromkeys(finding.label for finding in findings if finding.start <= start and end <= finding.end))
