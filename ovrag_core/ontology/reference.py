"""A reference ontology (FIBO) from a folder, in place of our own account of its classes.

Which modules is said by `ovr:reference` in our files; what they import is found through the OASIS catalogs in the
folder, and nowhere else. Only what can matter for our vocabulary, a syntactic-locality module, reaches the reasoner.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from rdflib import OWL, Graph, URIRef

from ovrag_core.base import OntologyError
from ovrag_core.ontology.load import Ontology, assemble, load_ontology, read_into, refuse_entities
from ovrag_core.ontology.rules import RULE

_CATALOG_URI = "{urn:oasis:names:tc:entity:xmlns:xml:catalog}uri"


def load_with_reference(reference: Path, folder: Path = Path("ontologies"), rules: Path | None = None) -> Ontology:
    """Our ontology with the reference modules in `reference` and all they import.

    Triples are mapped with our names only, so that a vocabulary of thousands does not change what a word means.
    Modules that are imported but not in the folder are listed in `Ontology.missing`. Raises OntologyError where a
    module that we name ourselves is not there.
    """
    ours = load_ontology(folder, rules)
    modules = sorted(str(node) for node in ours.graph.objects(None, RULE.reference))
    if not modules:
        raise OntologyError(f"{folder} names no reference module (ovr:reference); nothing to load from {reference}")
    files = dict(_catalog(reference))
    graph = Graph(bind_namespaces="none")
    graph += ours.graph
    digest = hashlib.sha256(ours.digest.encode())
    read: set[str] = set()
    queue = list(modules)
    missing: list[str] = []
    while queue:
        iri = queue.pop()
        if iri in read:
            continue
        read.add(iri)
        if iri not in files:
            if iri in modules:
                raise OntologyError(
                    f"{reference} has no file for {iri} in its catalogs; name the reference's own folder"
                )
            missing.append(iri)
            continue
        module = Graph(bind_namespaces="none")
        digest.update(read_into(module, files[iri]))
        queue += [str(node) for node in module.objects(None, OWL.imports)]
        graph += module
    whole = assemble(graph, digest.digest(), folder, rules)
    return replace(whole, terms=ours.terms, reference=True, missing=tuple(sorted(missing)))


def _catalog(folder: Path) -> Iterator[tuple[str, Path]]:
    """Ontology IRI → file, by the catalogs in a folder; entries that lead out of it, or to nothing, are left out."""
    root = folder.resolve()
    for path in sorted(folder.rglob("catalog-v001.xml")):
        content = path.read_bytes()
        refuse_entities(content, path)
        try:
            entries = list(ElementTree.fromstring(content).iter(_CATALOG_URI))
        except ElementTree.ParseError as error:
            raise OntologyError(f"{path} is not a catalog: {error}") from None
        for entry in entries:
            file = (path.parent / str(entry.get("uri"))).resolve()
            if file.is_relative_to(root) and file.is_file():
                yield str(URIRef(str(entry.get("name")))), file
