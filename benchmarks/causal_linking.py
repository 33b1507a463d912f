"""How well mentions are linked and statements read.

    python benchmarks/causal_linking.py [--gamma 0.85] [--no-likeness] [--errors]

Sets of phrases over the sample graph: those written while the linker was built (`tests/data/causal/linking.yaml`),
those written after its first state and used since (`linking_first.yaml`), and those written after its last change
(`linking_unseen.yaml`); and the phrases of the recorded chains under
OVRAG_EXTERNAL_DATA: synonyms as their paraphrases replace them, opposites by the other direction, negations by "does
not". A synonym counts where thing, direction and polarity are right; an opposite or a negation is wrongly taken for the
same where all three are equal. Beside it, what the cosine of whole phrases alone would take for the same.
Statements: the generated chains and their paraphrases against the graph, the recorded chains against their steps, and
sentences written after the first state (`statements_first.yaml`) and after the last change (`statements_unseen.yaml`).
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pyoxigraph import NamedNode

from ovrag_core.evaluation import wilson
from ovrag_core.graph import EmbeddedStore, load_graph
from ovrag_core.retrieval import minilm
from ovrag_studies.causal.chains.chain_generation import CausalChain, generate
from ovrag_studies.causal.chains.recorded_chains import read_recorded, recorded_graph
from ovrag_studies.causal.graphs.causal_terms import NAMESPACE
from ovrag_studies.causal.graphs.linking import CausalClaim, Linked, NameLexicon, claim, link
from ovrag_studies.causal.language.propositions import read
from tables import table

PROJECT = Path(__file__).resolve().parent.parent
EXTERNAL = Path(os.environ.get("OVRAG_EXTERNAL_DATA", PROJECT / "data" / "external"))
GRAPH = PROJECT / "data" / "samples" / "causal" / "graph.ttl"
PHRASES = PROJECT / "tests" / "data" / "causal"
RECORDED = ("chains_75_published_run.json", "chains_75_earlier.json")
SAMPLE = "urn:ovrag:causal:sample#"
SAME = "taken for the same"
LINKING = (
    "phrases",
    "synonyms linked",
    f"opposites {SAME}",
    f"negations {SAME}",
    "names in no list, right",
    "strangers linked",
)
PLAIN = (0.70, 0.85)  # cosines from which the earlier study's code and its paper take phrases for the same
_TURNED = {  # the other direction of the verbs that end recorded phrases
    "increases": "decreases", "increase": "decrease", "rises": "falls", "rise": "fall", "grows": "shrinks",
    "strengthens": "weakens", "accelerates": "slows", "decreases": "increases", "falls": "rises",
}  # fmt: skip
_BEING = {"is": "is not", "are": "are not"}

Meaning = tuple[NamedNode, str, str]


@dataclass(frozen=True, slots=True)
class Phrases:
    """Pairs of phrases: the same in other words, turned round, denied; and phrases that name nothing."""

    name: str
    lexicon: NameLexicon
    synonyms: Sequence[tuple[str, Meaning, str]]  # phrase, what it means, a phrase for the same for plain similarity
    opposites: Sequence[tuple[str, str]]
    negations: Sequence[tuple[str, str]]
    strangers: Sequence[str] = ()
    unlisted: Sequence[tuple[str, NamedNode]] = ()


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gamma", type=float, default=0.85, help="cosine from which a mention is taken for a label")
    parser.add_argument("--no-likeness", action="store_true", help="link by name only")
    parser.add_argument("--errors", action="store_true", help="print what went wrong")
    options = parser.parse_args()
    store = load_graph(GRAPH)
    lexicon = NameLexicon.of_graph(store, None if options.no_likeness else minilm())
    rows = [_linking(phrases, options.gamma, options.errors) for phrases in _sets(lexicon, options.no_likeness)]
    print(table(LINKING, rows))
    print(table(("statements", "recall", "precision", "not read"), _statements(store, lexicon, options.errors)))


# --- linking


def _sets(lexicon: NameLexicon, by_name: bool) -> Iterator[Phrases]:
    for name in ("linking", "linking_first", "linking_unseen"):
        path = PHRASES / f"{name}.yaml"
        if path.exists():
            yield _written(name, path, lexicon)
    folder = EXTERNAL / "causal" / "recorded"
    if folder.is_dir():
        yield _of_recorded(read_recorded(folder / RECORDED[0]), by_name)


def _written(name: str, path: Path, lexicon: NameLexicon) -> Phrases:
    lists = yaml.safe_load(path.read_text(encoding="utf-8"))
    labels = {each.entity.value: each.text for each in reversed(lexicon.names)}
    synonyms = []
    for phrase, thing, direction in lists["synonyms"]:
        node = NamedNode(SAMPLE + thing)
        words = {"up": "{} rises", "down": "{} falls", "none": "{}"}[direction].format(labels[node.value])
        synonyms.append((phrase, (node, direction, "positive"), words))
    pairs = [[(str(one), str(other)) for one, other in lists[key]] for key in ("opposites", "negations")]
    unlisted = [(phrase, NamedNode(SAMPLE + thing)) for phrase, thing in lists.get("unlisted", ())]
    return Phrases(name, lexicon, synonyms, pairs[0], pairs[1], lists.get("strangers", ()), unlisted)


def _of_recorded(chains: Sequence[CausalChain], by_name: bool) -> Phrases:
    """Phrases of recorded chains, without those of the domain of logic, which are formulas."""
    chains = [chain for chain in chains if chain.domain != "logic"]
    lexicon = NameLexicon.of_graph(EmbeddedStore(recorded_graph(chains)), None if by_name else minilm())
    phrases = sorted({side for chain in chains for step in chain.premises for side in _sides(step.text)})
    synonyms: dict[str, str] = {}
    for chain in chains:
        for paraphrase in chain.paraphrases:
            if paraphrase.kind == "synonym":
                synonyms |= dict(_replaced(chain.prompt, paraphrase.text))
    meant = [(new, _meaning(lexicon, old), old) for new, old in sorted(synonyms.items())]
    turned = [(phrase, f"{phrase.rpartition(' ')[0]} {_TURNED[phrase.split()[-1]]}") for phrase in phrases
              if phrase.split()[-1] in _TURNED]  # fmt: skip
    denied = [(phrase, _denied(phrase)) for phrase in phrases]
    return Phrases("recorded", lexicon, [(a, b, c) for a, b, c in meant if b is not None], turned, denied)


def _sides(text: str) -> list[str]:
    for verb in (" leads to ", " causes ", " enables ", " implies that ", " implies "):
        if verb in text:
            return text.split(verb, 1)
    return []


def _replaced(prompt: str, changed: str) -> Iterator[tuple[str, str]]:
    """Phrases of a paraphrase that stand where the prompt has another."""
    for before, after in zip(prompt.splitlines(), changed.splitlines(), strict=False):
        if before != after and before.startswith("- "):
            for old, new in zip(_sides(before[2:]), _sides(after[2:]), strict=False):
                if old != new:
                    yield new, old


def _denied(phrase: str) -> str:
    words = phrase.split()
    for verb, denied in _BEING.items():
        if verb in words:
            return phrase.replace(f" {verb} ", f" {denied} ")
    return f"it is not the case that {phrase}"


def _meaning(lexicon: NameLexicon, phrase: str, gamma: float = 0.85) -> Meaning | None:
    linked = link(phrase, lexicon, gamma)
    return (linked.entity, linked.direction, linked.polarity) if isinstance(linked, Linked) else None


def _linking(phrases: Phrases, gamma: float, errors: bool) -> tuple[str, ...]:
    right = [_meaning(phrases.lexicon, phrase, gamma) == meaning for phrase, meaning, _ in phrases.synonyms]
    rows = [(right, True, [(phrase, words) for phrase, _, words in phrases.synonyms])]
    for pairs in (phrases.opposites, phrases.negations):
        rows.append(([_same(phrases.lexicon, one, other, gamma) for one, other in pairs], False, list(pairs)))
    cells = []
    for outcome, wanted, pairs in rows:
        plain = ", ".join(f"{sum(cosine >= at for cosine in _cosines(pairs))} at {at:.2f}" for at in PLAIN)
        cells.append(f"{_share(outcome)}; by cosine alone {plain}")
        if errors:
            for pair in (pair for pair, is_so in zip(pairs, outcome, strict=True) if is_so != wanted):
                print(pair, [link(one, phrases.lexicon, gamma) for one in pair])
    unlisted = [(link(phrase, phrases.lexicon, gamma), node) for phrase, node in phrases.unlisted]
    named = [isinstance(each, Linked) and each.entity == node for each, node in unlisted]
    linked = [isinstance(link(phrase, phrases.lexicon, gamma), Linked) for phrase in phrases.strangers]
    if errors:
        print([phrase for phrase, is_linked in zip(phrases.strangers, linked, strict=True) if is_linked])
    return phrases.name, *cells, *(_share(each) if each else "–" for each in (named, linked))


def _same(lexicon: NameLexicon, one: str, other: str, gamma: float) -> bool:
    first, second = _meaning(lexicon, one, gamma), _meaning(lexicon, other, gamma)
    return first is not None and first == second


def _cosines(pairs: Sequence[tuple[str, str]]) -> list[float]:
    vectors = [minilm().embed([pair[side] for pair in pairs]) for side in (0, 1)]
    return [float(score) for score in (vectors[0] * vectors[1]).sum(axis=1)]


def _share(outcome: Sequence[bool]) -> str:
    found = wilson(sum(outcome), len(outcome))
    return f"{sum(outcome)} of {len(outcome)} [{found.low or 0:.3f}, {found.high or 0:.3f}]"


# --- statements


def _statements(store: EmbeddedStore, lexicon: NameLexicon, errors: bool) -> Iterator[tuple[object, ...]]:
    """Recall and precision of claims: thing, effect, thing, denied."""
    chains = generate(store)
    yield _claims("chains, prompts", [(c.prompt, _stated(c), lexicon, _added(c)) for c in chains], errors)
    for kind in ("relation", "synonym", "order"):
        texts = [(p.text, _stated(c), lexicon, _added(c)) for c in chains for p in c.paraphrases if p.kind == kind]
        yield _claims(f"chains, paraphrased by {kind}", texts, errors)
    folder = EXTERNAL / "causal" / "recorded"
    for name in RECORDED if folder.is_dir() else ():
        pairs = [
            (chain, NameLexicon.of_graph(EmbeddedStore(recorded_graph([chain]))))
            for chain in read_recorded(folder / name)
        ]
        yield _claims(f"{name}, prompts", [(c.prompt, _stated(c), own, 0) for c, own in pairs], errors)
        texts = [(p.text, _stated(c), own, 0) for c, own in pairs for p in c.paraphrases]
        yield _claims(f"{name}, paraphrases", texts, errors)
    for name in ("statements_first", "statements_unseen"):
        yield _unseen(name, yaml.safe_load((PHRASES / f"{name}.yaml").read_text(encoding="utf-8")), lexicon, errors)


ClaimKey = tuple[str, str, str, bool]


def _stated(chain: CausalChain) -> set[ClaimKey]:
    return {(step.subject.value, step.predicate.value, step.object.value, False) for step in chain.premises}


def _added(chain: CausalChain) -> int:
    """Sentences of a prompt beside its steps."""
    return len(chain.contradictions) + len(chain.asides)


def _claims(
    title: str, texts: Sequence[tuple[str, set[ClaimKey], NameLexicon, int]], errors: bool
) -> tuple[object, ...]:
    """Recall of the steps, and precision: what is claimed beyond the steps and the sentences added to them is wrong."""
    hit = total = claimed = unread = 0
    for text, stated, lexicon, added in texts:
        reading = read(text, lexicon.compounds)
        claims = [claim(each, lexicon) for each in reading.propositions]
        found = {
            (c.subject.value, c.predicate.value, c.object.value, c.denied) for c in claims if isinstance(c, CausalClaim)
        }
        hit, total = hit + len(found & stated), total + len(stated)
        claimed += max(len(found) - added, len(found & stated))
        unread += len(reading.unread) + sum(not isinstance(each, CausalClaim) for each in claims)
        if errors and stated - found:
            print("   ", sorted(stated - found)[:2], [each.quote for each in reading.unread][:2])
    return title, _of(hit, total), _of(hit, claimed), unread


def _unseen(title: str, entries: Sequence[dict[str, object]], lexicon: NameLexicon, errors: bool) -> tuple[object, ...]:
    """Sentences with the claims that they make; what claims nothing counts against precision if a claim is found."""
    hit = total = claimed = 0
    for entry in entries:
        text, claims = str(entry["text"]), entry["claims"]
        assert isinstance(claims, list)
        meant = {(SAMPLE + s, NAMESPACE + p, SAMPLE + o, bool(denied)) for s, p, o, denied in claims}
        linked = [claim(each, lexicon) for each in read(text, lexicon.compounds).propositions]
        found = {
            (c.subject.value, c.predicate.value, c.object.value, c.denied) for c in linked if isinstance(c, CausalClaim)
        }
        hit, total, claimed = hit + len(found & meant), total + len(meant), claimed + len(found)
        if errors and found != meant:
            short = [[tuple(str(part).rpartition("#")[2] for part in each) for each in side] for side in (found, meant)]
            print(f"    {text}\n      found {short[0]}\n      meant {short[1]}")
    return f"{title}, {len(entries)} sentences", _of(hit, total), _of(hit, claimed), ""


def _of(hit: int, among: int) -> str:
    return _share([True] * hit + [False] * (among - hit))


if __name__ == "__main__":
    main()
