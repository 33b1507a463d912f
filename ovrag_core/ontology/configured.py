"""The ontology that the settings ask for."""

from pathlib import Path

from ovrag_core.base import Settings, project_file
from ovrag_core.ontology.forms import FORM, Form, read_form
from ovrag_core.ontology.load import Ontology, load_ontology

ONTOLOGIES = Path("ontologies")
VOCABULARY = "vocabulary.ttl"  # what turns an axiom into a rule: of no domain


def open_ontology(settings: Settings) -> Ontology:
    """The ontology with its rule settings: ours, or another domain's."""
    if settings.ontology.domain is not None:
        return load_ontology(settings.ontology.domain, also=[project_file(ONTOLOGIES) / VOCABULARY])
    return load_ontology(project_file(ONTOLOGIES), rules=project_file(settings.validation.rules))


def open_form(settings: Settings, ontology: Ontology) -> Form:
    """The form that a model fills in about a document. Raises OntologyError naming what the ontology lacks."""
    return read_form((settings.ontology.domain or project_file(ONTOLOGIES)) / FORM, ontology)
