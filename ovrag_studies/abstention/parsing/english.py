"""English as far as reading a question needs it: words by what they do in a sentence (`english.yaml`)."""

from importlib import resources

import yaml

_LISTS: dict[str, list[str]] = yaml.safe_load(resources.files(__package__).joinpath("english.yaml").read_text("utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name])


ARTICLES = _words("articles")
DETERMINERS = _words("determiners") | ARTICLES
OWN = _words("own")
BE = _words("be")
DO = _words("do")
HAVE = _words("have")
RELATIVE = _words("relative")
NAMING = _words("naming")
PREPOSITIONS = _words("prepositions")
GOALS = _words("goals")
ASIDE = _words("aside")
HOWEVER = _words("however")
BEARINGS = _words("bearings")
NOT = _words("not")
UNTRUE = _words("untrue")
EXCLUDING = _words("excluding")
PERSONS = _words("persons")
DIRECT = _words("direct")
DIRECT_PHRASES = frozenset(tuple(phrase.split()) for phrase in _LISTS["direct_phrases"])
INDIRECT = _words("indirect")
INDIRECT_PHRASES = frozenset(tuple(phrase.split()) for phrase in _LISTS["indirect_phrases"])
UPWARD = _words("upward")
ADVERBIAL = _words("adverbial")
ACCOUNTS = _words("accounts")
CLAUSES = _words("clauses")
ADJECTIVES = _words("adjectives")
SHELL = _words("shell") | ADJECTIVES
FUNCTION = _words("function").union(
    DETERMINERS, ASIDE, BE, DO, HAVE, RELATIVE, NAMING, PREPOSITIONS, GOALS, NOT, DIRECT, INDIRECT
)
LONG_PREPOSITIONS = dict(line.split(": ") for line in _LISTS["long_prepositions"])
IRREGULAR = {verb: (past, participle) for verb, past, participle in (line.split() for line in _LISTS["irregular"])}
