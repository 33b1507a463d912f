"""The picture of a contradiction shows every statement and axiom."""

import io

from ovrag_core.base.types import Triple, Violation
from ovrag_core.ontology.picture import draw


def test_every_statement_and_axiom_is_in_the_picture() -> None:
    triples = (
        Triple(subject="Loan", predicate="rdf:type", object="UnsecuredLoan"),
        Triple(subject="Loan", predicate="hasCollateral", object="the mill, worth $5 or $6"),
    )
    axioms = ("UnsecuredLoan SubClassOf hasCollateral only Nothing",)
    violation = Violation(
        rule="r", clash_type=None, severity="clash", kind="owl", triples=triples, axioms=axioms, message="m"
    )
    figure = draw(violation)
    shown = {text.get_text() for text in figure.axes[0].texts}
    assert {"Loan", "rdf:type", "hasCollateral", "UnsecuredLoan", axioms[0]} <= shown
    image = io.BytesIO()
    figure.savefig(image, format="png")
    assert image.getvalue().startswith(b"\x89PNG")
