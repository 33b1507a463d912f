"""Tables, figures and macros of the study; captions and notes stand in `captions.yaml`."""

from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pandas
import yaml

from ovrag_core.base import Settings
from ovrag_core.evaluation import compare_pairs, ratio, sums
from ovrag_core.report import number, with_bounds
from ovrag_core.study import Book, bounds, estimates_of, macros, scores, wide
from ovrag_core.study import book as books
from ovrag_studies.abstention import card_pictures, measures
from ovrag_studies.abstention.cards.card import LABELS
from ovrag_studies.abstention.cards.shortcuts import Shortcut, best
from ovrag_studies.abstention.settings import Epistemic
from ovrag_studies.abstention.study import Answered

LICENSED = "Graph-RAG with licence"
SHOWN = ("LA*", "CVRR*", "FAR*", "false YES", "AR*", "accuracy")
IN_BRIEF = ("LA*", "CVRR*", "FAR*", "AR*", "accuracy")
AS_PUBLISHED = ("AP", "CVRR", "FAR-NE", "LA", "overall")
REFERRED = (*AS_PUBLISHED, "AP*", "CVRR*", "FAR*", "LA*", "accuracy", "macro-F1")
FORMS = {"LA": "LA*", "CVRR": "CVRR*", "FAR-NE": "FAR*", "AP": "AP*"}
IN_NUMBERS = (*measures.PUBLISHED, *measures.CORRECTED, "macro-F1", "AURC", "excess AURC")
SHORT = ("YES", "NO", "UNKNOWN", "none")


def open_book(settings: Settings) -> Book:
    """The book of the settings."""
    return books.open_book(settings, Epistemic)


def measure(book: Book, answered: Answered) -> pandas.DataFrame:
    """Every figure of every arm with its interval, as a tidy frame."""
    by_arm = {arm: measures.estimates(outcomes, book.plan) for arm, outcomes in answered.outcomes.items()}
    return scores(by_arm, len(answered.cards), answered.name)


def _on(answered: Answered) -> dict[str, object]:
    return {"cards": len(answered.cards), "domain": answered.world.domain.name, "clusters": answered.clusters}


# -- cards ------------------------------------------------------------------------------------------------------------


def cards_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """The cards by kind, with an example of each: `cards`."""
    kinds = Counter(card.subtype for card in answered.cards)
    example_of = {card.subtype: card for card in reversed(answered.cards)}
    ordered = sorted(kinds, key=lambda kind: (LABELS.index(example_of[kind].label), list(kinds).index(kind)))
    rows = [
        {"label": example_of[kind].label, "kind": kind, "cards": kinds[kind], "an example": example_of[kind].question}
        for kind in ordered
    ]
    origin = "Made from the graph" if answered.source.cards is None else "Taken from a file"
    return book.table(pandas.DataFrame(rows), "cards", _on(answered) | {"made": origin})


def shortcuts_table(book: Book, answered: Answered, found: Sequence[Shortcut]) -> pandas.DataFrame:
    """Accuracy of what is scored without reading a fact through: `shortcuts`."""
    rows = [{"shortcut": s.name, **bounds("accuracy", s.accuracy), "over majority": s.gain} for s in found]
    words = _on(answered) | {"majority": found[0].majority}
    return book.table(pandas.DataFrame(rows), "shortcuts", words)


# -- arms -------------------------------------------------------------------------------------------------------------


def arms_table(book: Book, answered: Answered, measured: pandas.DataFrame) -> pandas.DataFrame:
    """The corrected metrics of each arm; the CSV has all metrics: `arms`."""
    full = wide(measured, measured["measure"].unique())
    full.insert(1, "cards", len(answered.cards))
    return book.table(wide(measured, SHOWN), "arms", _on(answered), full=full)


def published_table(book: Book, answered: Answered, measured: pandas.DataFrame) -> pandas.DataFrame:
    """The published metrics of each arm, with what was recorded and published: `published`."""
    theirs = yaml.safe_load(files(__package__).joinpath("published.yaml").read_text(encoding="utf-8"))
    rows = pandas.DataFrame([{"arm": arm, **metrics} for arm, metrics in theirs["metrics"].items()])
    frame = pandas.concat([wide(measured, AS_PUBLISHED), rows], ignore_index=True)
    return book.table(frame, "published", _on(answered) | {"source": theirs["source"]})


def _references(answered: Answered) -> dict[str, dict[str, float | None]]:
    systems = measures.references(next(iter(answered.outcomes.values())))
    return {name: measures.values(outcomes) for name, outcomes in systems.items()}


def references_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """Scores of perfect and constant systems by both forms of the metrics: `references`."""
    frame = pandas.DataFrame(_references(answered)).T[list(REFERRED)].reset_index(names="system")
    return book.table(frame, "references", _on(answered))


def forms_figure(book: Book, answered: Answered, measured: pandas.DataFrame) -> Path:
    """Published beside corrected metrics, by arm, a perfect system above: `forms`."""
    perfect = measures.references(next(iter(answered.outcomes.values())))["perfect"]
    rows = {"perfect": measures.estimates(perfect, book.plan), **estimates_of(measured)}
    return book.figure(card_pictures.forms(rows, FORMS, book.width), "forms", _on(answered))


def confusion_figure(book: Book, answered: Answered) -> Path:
    """Tables of gold against answered, by arm: `confusion`."""
    counted = {arm: measures.count(outcomes) for arm, outcomes in answered.outcomes.items()}
    tables = {arm: pandas.DataFrame(table, list(LABELS), list(SHORT)) for arm, table in counted.items()}
    if not any(table["none"].any() for table in tables.values()):
        tables = {arm: table.drop(columns="none") for arm, table in tables.items()}
    return book.figure(card_pictures.confusion(tables, book.width), "confusion", _on(answered))


def kinds_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """Accuracy of each arm by kind of card: `kinds`."""
    by_arm = answered.outcomes
    shown = pandas.DataFrame({arm: measures.shares_by_kind(outcomes) for arm, outcomes in by_arm.items()})
    shown = shown.reset_index(names="kind")
    counts = Counter(card.subtype for card in answered.cards)
    shown.insert(1, "cards", [counts[kind] for kind in shown["kind"]])
    brief = {arm: arm.replace("RAG by ", "").replace(" with licence", "") for arm in by_arm}
    return book.table(shown.rename(columns=brief), "kinds", _on(answered), full=shown)


def paired_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """The licence against each other arm, card by card: `paired`; without rows where it was not asked."""
    right = {name: [o.right for o in outcomes] for name, outcomes in answered.outcomes.items()}
    clusters = [o.cluster or o.card for o in answered.outcomes.get(LICENSED, ())]
    licensed = right.pop(LICENSED, None)
    pairs = {name: (licensed, theirs) for name, theirs in right.items() if licensed is not None}
    ours, theirs = f"{LICENSED} alone right", "the other alone"
    rows = [
        {"against": name, ours: pair.items.first_only, theirs: pair.items.second_only, "Holm p": pair.holm}
        | bounds("difference", pair.difference)
        for name, pair in compare_pairs(pairs, clusters, book.plan).items()
    ]
    frame = pandas.DataFrame(rows, columns=["against", ours, theirs, "Holm p", *with_bounds(["difference"])])
    return book.table(frame, "paired", _on(answered) | {"arm": LICENSED})


def model_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """Answers of a chat model and the offline arms to the same sample of cards; the CSV has accuracy too: `model`."""
    outcomes = answered.outcomes
    counted = pandas.DataFrame([{"arm": arm, **measures.counts_by_outcome(outcomes[arm])} for arm in outcomes])
    full = counted.merge(wide(measure(book, answered), IN_BRIEF), on="arm")
    calls, written = answered.usage.calls, answered.usage.completion_tokens
    words = {"calls": calls, "written": written / calls if calls else 0.0}
    shown = full.drop(columns=with_bounds(["accuracy"]))
    return book.table(shown, "model", _on(answered) | words, full=full)


# -- risk and coverage ------------------------------------------------------------------------------------------------


def risk_table(book: Book, answered: Answered, measured: pandas.DataFrame) -> pandas.DataFrame:
    """Quality of confidence as a ranking of answers: `risk`."""
    frame = wide(measured, ("AURC", "excess AURC"))
    curves = [measures.risk_curve(answered.outcomes[arm]) for arm in frame["arm"]]
    frame.insert(1, "answered", [curve.answered for curve in curves])
    frame.insert(2, "wrong of those", [curve.own_risk for curve in curves])
    return book.table(frame, "risk", _on(answered))


def risk_figure(book: Book, answered: Answered) -> Path:
    """Errors among the surest answers: `risk`."""
    curves = {arm: measures.risk_curve(outcomes) for arm, outcomes in answered.outcomes.items()}
    answerable = sum(card.gold != "UNKNOWN" for card in answered.cards)
    return book.figure(card_pictures.risk_and_coverage(curves, answerable, book.width), "risk", _on(answered))


# -- retrieval, other domains ------------------------------------------------------------------------


def retrieval_table(book: Book, answered: Answered, found: pandas.DataFrame) -> pandas.DataFrame:
    """Share of cards for which the passage that settles them is found: `retrieval`."""
    clusters = list(found["cluster"])
    of = sums([1.0] * len(found), clusters)
    rows: list[dict[str, object]] = []
    for way in found.columns.drop("cluster"):
        rows.append({"retrieval": way})
        for name, most in (("in the first", 1), ("in the first five", 5)):
            hits = (found[way].astype(float) <= most).astype(float).tolist()
            rows[-1] |= bounds(name, ratio(sums(hits, clusters), of, book.plan))
    words = {"cards": len(found), "domain": answered.world.domain.name, "clusters": len(of)}
    return book.table(pandas.DataFrame(rows), "retrieval", words)


def domains_table(book: Book, others: Sequence[Answered]) -> pandas.DataFrame:
    """The corrected metrics on the other sources: `domains`."""
    measured = pandas.concat([measure(book, s) for s in others] or [scores({}, 0)], ignore_index=True)
    frame = wide(measured.rename(columns={"set": "source"}), IN_BRIEF, by=("source", "arm"))
    n = ", ".join(f"{len(s.cards)} cards on {s.name} ({s.clusters} clusters)" for s in others) or "0 cards"
    return book.table(frame, "domains", {"sources": n})


def latency_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """The seconds that an answer takes, which differ from run to run: `latency`."""
    milliseconds = pandas.Series(answered.run.seconds, dtype=float) * 1000
    by_arm = milliseconds.groupby([record.arm for record in answered.run.records], sort=False)
    frame = pandas.DataFrame({"median": by_arm.median(), "95th percentile": by_arm.quantile(0.95)})
    return book.table(frame.reset_index(names="arm"), "latency", _on(answered))


def numbers_file(book: Book, answered: Answered, measured: pandas.DataFrame, short: Sequence[Shortcut]) -> Path:
    """The headline figures as macros, each beginning with `Epistemic`: `numbers.tex`."""
    named = {"cards": str(len(answered.cards)), "clusters": str(answered.clusters)}
    named |= {"best shortcut": number(best(short).accuracy.value), "majority": number(short[0].majority)}
    named |= macros(measured[measured["measure"].isin(IN_NUMBERS)], _macro)
    perfect = _references(answered)["perfect"]
    named |= {f"perfect {name} published": number(perfect[name]) for name in AS_PUBLISHED}
    return book.numbers(named, f"Abstention on a graph: {len(answered.cards)} cards on {answered.world.domain.name}.")


def _macro(arm: str, measured: str) -> str:
    form = f"{measured} published" if measured in measures.PUBLISHED else measured.replace("*", " corrected")
    return f"{arm} {form}"
