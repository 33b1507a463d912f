"""English as far as reading a question needs it: words by what they do in a sentence (`english.yaml`)."""

from importlib import resources

import yaml

_LISTS: dict[str, list[str]] = yaml.safe_load(resources.files(__package__).joinpath("english.yaml").read_text("utf-8"))
_WORDS = {name: frozenset(entries) for name, entries in _LISTS.items()}

ARTICLES = _WORDS["articles"]
DETERMINERS = _WORDS["determiners"] | ARTICLES
OWN = _WORDS["own"]
BE = _WORDS["be"]
DO = _WORDS["do"]
HAVE = _WORDS["have"]
RELATIVE = _WORDS["relative"]
NAMING = _WORDS["naming"]
PREPOSITIONS = _WORDS["prepositions"]
GOALS = _WORDS["goals"]
ASIDE = _WORDS["aside"]
HOWEVER = _WORDS["however"]
BEARINGS = _WORDS["bearings"]
NOT = _WORDS["not"]
UNTRUE = _WORDS["untrue"]
EXCLUDING = _WORDS["excluding"]
PERSONS = _WORDS["persons"]
DIRECT = _WORDS["direct"]
DIRECT_PHRASES = frozenset(tuple(phrase.split()) for phrase in _LISTS["direct_phrases"])
INDIRECT = _WORDS["indirect"]
INDIRECT_PHRASES = frozenset(tuple(phrase.split()) for phrase in _LISTS["indirect_phrases"])
UPWARD = _WORDS["upward"]
ADVERBIAL = _WORDS["adverbial"]
ACCOUNTS = _WORDS["accounts"]
CLAUSES = _WORDS["clauses"]
ADJECTIVES = _WORDS["adjectives"]
SHELL = _WORDS["shell"] | ADJECTIVES
FUNCTION = _WORDS["function"].union(
    DETERMINERS, ASIDE, BE, DO, HAVE, RELATIVE, NAMING, PREPOSITIONS, GOALS, NOT, DIRECT, INDIRECT
)
LONG_PREPOSITIONS = dict(line.split(": ") for line in _LISTS["long_prepositions"])
IRREGULAR = {verb: (past, participle) for verb, past, participle in (line.split() for line in _LISTS["irregular"])}
