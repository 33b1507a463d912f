"""Results are the same bytes where another processor's vectors differ in their last digits.

Every vector gets noise larger than that; what is written and drawn must not change. All stages are measured by
`python tools/verify.py --perturb 1e-6`.
"""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
import run_factory
import yaml

from ovrag_core.base.settings import load_settings
from ovrag_core.base.types import QueryRecord
from ovrag_core.documents import load
from ovrag_core.documents.chunking import split
from ovrag_core.evaluation.quality import bert_scores
from ovrag_core.loans.reading.judge import load_judge
from ovrag_core.report import quality
from ovrag_core.report.run import open_run
from ovrag_core.retrieval.embedding import minilm
from ovrag_core.retrieval.index import build
from ovrag_core.text.passages import find_passages
from ovrag_studies.contract_review import arms, review_experiments
from ovrag_studies.contract_review import results as reviewed

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tools"))

from perturbation import changed  # noqa: E402

SETTINGS = "evaluation: {bootstrap_samples: 100}\nstudies: {contract_review: {experiments: {bootstrap_samples: 100}}}\n"


@pytest.fixture
def twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], list[dict[str, bytes]]]:
    """Runs what makes results in a folder of its own with vectors as they are, and with noise; the files of both."""

    def run(make: Callable[[], object]) -> list[dict[str, bytes]]:
        made = []
        for name in ("plain", "noisy"):
            folder = tmp_path / name
            folder.mkdir()
            monkeypatch.chdir(folder)
            Path("params.yaml").write_text(SETTINGS, encoding="utf-8")
            with monkeypatch.context() as patched:
                if name == "noisy":
                    for module, change in changed().items():
                        noisy(importlib.import_module(module), change, patched)
                make()
            files = sorted(path for place in ("tables", "figures") for path in Path(place).rglob("*") if path.is_file())
            made.append({path.as_posix(): path.read_bytes() for path in files})
        return made

    return run


def noisy(module: object, change: Callable, patched: pytest.MonkeyPatch) -> None:
    """Change a module for as long as the patch lasts."""
    for owner, name in ((getattr(module, "MiniLM", None), "embed"), (getattr(module, "Encoder", None), "_states")):
        if owner is not None and name in vars(owner):
            patched.setattr(owner, name, vars(owner)[name])  # restored at the end
    if hasattr(module, "_encode"):
        patched.setattr(module, "_encode", module._encode)
    change(module)


def same(made: list[dict[str, bytes]]) -> list[str]:
    plain, noisy = made
    assert plain and plain.keys() == noisy.keys()
    return [path for path in plain if plain[path] != noisy[path]]


def test_noise_reaches_vectors_tokens_and_judgements(monkeypatch: pytest.MonkeyPatch):
    def made() -> list[numpy.ndarray]:
        pairs = [("the loan is secured", "collateral was given for the loan")]
        judge = load_judge()
        states = judge._encoder._states([judge._encoder.tokens("The loan is secured.").ids])
        return [minilm().embed(["a loan"]), numpy.array(list(bert_scores(pairs).values())), states[0].numpy()]

    before = made()
    for module, change in changed().items():
        noisy(importlib.import_module(module), change, monkeypatch)
    for one, other in zip(before, made(), strict=True):
        assert 0 < numpy.abs(one - other).max() <= 1e-5
    monkeypatch.undo()
    assert all((one == other).all() for one, other in zip(before, made(), strict=True))


def answered() -> list[QueryRecord]:
    """Records of two arms; each answer is a passage, the reference the next one, and few differ between the arms."""
    records = []
    for path in sorted((PROJECT / "tests/data/agreements/check").glob("*.txt"))[:12]:
        text = load(path).text
        passages = [text[start:end] for start, end in find_passages(text)][:6]
        for number in range(3):
            for arm in ("ovrag_scoped", "plain_scoped"):
                said = passages[number + (arm == "plain_scoped" and number == 2 and path.stem.endswith("4"))]
                more = {"text": said, "reference": passages[number + 1]}
                records.append(run_factory.record(arm, path.stem, f"Q{number}", **more))
    return records


def test_likeness_to_reference_answers(twice):
    def make() -> None:
        run = open_run(answered(), load_settings(), "consistency")
        scored = quality.scored_quality(run, cache=None)
        quality.quality_table(run, scored)
        quality.quality_comparison_table(run, scored)
        quality.quality_figure(run, scored)

    made = twice(make)
    tables = {f"tables/consistency/{name}.csv" for name in ("quality", "quality_components")}
    assert tables | {"figures/consistency/quality.pdf"} <= made[0].keys()
    assert same(made) == []


def test_answers_to_a_checklist(twice):
    def make() -> None:
        settings = load_settings()
        study, contracts, _ = review_experiments.open_study(settings)
        some = contracts[:1]
        asked = review_experiments.answered(study, some, arms.known_contracts(study, some))
        book = reviewed.open_book(settings, len(some), 1)
        reviewed.answers_table(book, asked)
        reviewed.answers_figure(book, asked)
        reviewed.presence_figure(book, asked)

    made = twice(make)
    assert {"tables/contract_review/answers.csv", "figures/contract_review/precision_recall.pdf"} <= made[0].keys()
    assert same(made) == []


def test_what_a_search_tells(twice):
    def make() -> None:
        files = sorted(
            (PROJECT / "tests/data/agreements/check").glob("*.txt"), key=lambda path: (path.stat().st_size, path.name)
        )
        documents = [load(path) for path in files[:2]]
        chunks = [chunk for each in documents for chunk in split(each, "recursive", 1000, 200)]
        index = build(Path("index"), chunks, minilm().embed([chunk.text for chunk in chunks]), "minilm")
        asked = [each["text"] for each in yaml.safe_load((PROJECT / "data/questions.yaml").read_text(encoding="utf-8"))]
        found = [
            hit.model_dump()
            for vector in minilm().embed(asked)
            for scope in (None, *({each.id} for each in documents))
            for hit in index.search(vector, 3, scope)
        ]
        Path("tables").mkdir()
        Path("tables/found.json").write_text(json.dumps(found), encoding="utf-8")

    made = twice(make)
    assert len(json.loads(made[0]["tables/found.json"])) > 10, "five questions, of both and of each"
    assert same(made) == []
