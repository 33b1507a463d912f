"""The text of a query, read as tokens: what it may not hold, and terms put in the place of variables.

Tokens follow the grammar of SPARQL 1.1 (https://www.w3.org/TR/sparql11-query/#sparqlGrammar), as far as it takes to
tell a keyword or a variable from the inside of a string, an IRI, a comment or a prefixed name.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from ovrag_core.base import GraphError

Term = NamedNode | BlankNode | Literal | Triple
Row = dict[str, Term]

_TOKEN = re.compile(
    r"""(?P<string>\"{3}(?:\\.|(?!\"{3}).)*\"{3}|'{3}(?:\\.|(?!'{3}).)*'{3}|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*')
      | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
      | (?P<comment>\#[^\n\r]*)
      | (?P<variable>[?$]\w+)
      | (?P<name>[\w\-.]*:[\w\-.:%\\]*)
      | (?P<word>@?\w+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_FORMS = ("ASK", "SELECT", "CONSTRUCT", "DESCRIBE")
_REFUSED = frozenset({"SERVICE", "LOAD", "INSERT", "DELETE", "CLEAR", "DROP", "CREATE", "FROM"})


def tokens(query: str) -> Iterator[tuple[str, str]]:
    """The tokens of a query with their kinds, white space among them; joined they are the query again."""
    for match in _TOKEN.finditer(query):
        yield str(match.lastgroup), match.group()


@lru_cache(maxsize=1024)
def check(query: str, form: str) -> None:
    """Raise GraphError unless `query` is of the form `form` (ASK, SELECT) and stays within its graph."""
    if re.search(r"\\[uU][0-9A-Fa-f]{4}", query):
        raise GraphError("the query writes letters as \\u escapes, which may hide anything; write the letters")
    words = [text.upper() for kind, text in tokens(query) if kind == "word"]
    refused = next((word for word in words if word in _REFUSED), None)
    if refused:
        raise GraphError(f"the query holds {refused}; a query may ask its own graph only, so take it out")
    if next((word for word in words if word in _FORMS), None) != form:
        raise GraphError(f"the query is no {form} query; write {form} after its prefixes")


def bind(query: str, terms: Mapping[str, Term]) -> str:
    """The query with each variable of `terms` replaced by its term, as an endpoint needs it that binds nothing itself.

    A term is written by the N-Triples grammar, so that no text of a label can become a part of the query. Raises
    GraphError for a blank node, which another store cannot know, and for a variable that the query gives back.
    """
    for name, term in terms.items():
        if not isinstance(term, NamedNode | Literal):
            raise GraphError(
                f"?{name} is bound to {term}, which has no name outside its own graph; bind an IRI or a literal"
            )
    pieces, in_head = [], False
    for kind, text in tokens(query):
        if kind == "word" and text.upper() == "SELECT":
            in_head = True
        elif text == "{" and kind == "other":
            in_head = False
        if kind != "variable" or text[1:] not in terms:
            pieces.append(text)
        elif in_head:
            raise GraphError(f"the query gives back {text}, which is bound already; take it out of the head")
        else:
            pieces.append(str(terms[text[1:]]))
    return "".join(pieces)


@lru_cache(maxsize=1024)
def with_bound(query: str, names: frozenset[str]) -> str:
    """The query giving back the variables `names` too, as pyoxigraph wants of those that it binds.

    Raises GraphError for a head that computes something, which cannot give back more.
    """
    lexemes = list(tokens(query))
    begin = next(place for place, (kind, text) in enumerate(lexemes) if (kind, text.upper()) == ("word", "SELECT")) + 1
    head = list(takewhile(lambda lexeme: lexeme != ("other", "{"), lexemes[begin:]))
    if ("other", "(") in head:
        raise GraphError("a query that computes in its SELECT takes no terms; select the rows and compute on those")
    missing = names - {text[1:] for kind, text in head if kind == "variable"}
    if ("other", "*") in head or not missing:
        return query
    first = begin + [kind for kind, _ in head].index("variable")
    added = [("other", f"?{name} ") for name in sorted(missing)]
    return "".join(text for _, text in [*lexemes[:first], *added, *lexemes[first:]])
