"""Weights say what they learned from, and it is what is there: else a figure on new data may be one on old."""

import ast
import shutil
import subprocess
from pathlib import Path

import pytest
from training_data import learned_from, told

from ovrag_studies.contract_review.answering.learned import default_model, digest
from ovrag_studies.contract_review.inference.nli import digest as letters_of
from ovrag_studies.contract_review.inference.nli import load_learned
from ovrag_studies.contract_review.texts.datasets import load_contractnli, load_cuad

PROJECT = Path(__file__).resolve().parents[2]

# Learned from data of other publishers, which are not here: these name the texts, or their source and count.
ELSEWHERE = {
    "ovrag_studies/contract_review/weights/clauses.safetensors",
    "ovrag_studies/contract_review/weights/nli.safetensors",
}
TRAINERS = {
    "train_currencies": ("ovrag_core/text/currencies.safetensors",),
    "train_judge": ("ontologies/lexicon/judge.safetensors",),
    "train_names": ("ontologies/lexicon/names.safetensors",),
    "train_gate": ("ontologies/lexicon/gate.safetensors",),
    "train_questions": ("ontologies/lexicon/questions.safetensors",),
    "train_passages": ("ontologies/lexicon/passages.safetensors",),
    "train_contract_nli": ("ovrag_studies/contract_review/weights/nli.json",),
    "train_policy_reader": ("ovrag_studies/cited/weights/reader.safetensors",),
    "train_policy_critic": ("ovrag_studies/cited/weights/critic.safetensors",),
    "train_policy_conflicts": ("ovrag_studies/cited/weights/conflicts.safetensors",),
    "train_policy_precedence": ("ovrag_studies/cited/weights/precedence.safetensors",),
    "train_policy_silence": ("ovrag_studies/cited/weights/calibration.json",),
}
WEIGHTS = sorted(path for paths in TRAINERS.values() for path in paths)


def weights_in_git() -> set[str]:
    command = ["git", "ls-files", "*.safetensors", "**/weights/*.json"]
    return set(subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.split())


def test_all_weights_are_known_here():
    assert weights_in_git() == {*WEIGHTS, *ELSEWHERE}, "tell of new weights what they learned from"


@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_agree_with_the_data_that_they_learned_from(weights: str):
    said = told(PROJECT / weights)
    assert said is not None, f"{weights} does not say what it learned from"
    assert said == learned_from(said["files"], PROJECT), f"the data of {weights} have changed; train it anew"


@pytest.mark.parametrize("change", ["edit", "rename", "add", "remove"])
def test_any_change_of_the_data_is_seen(tmp_path: Path, change: str):
    patterns = ["training/loans/roles/*.jsonl"]
    folder = tmp_path / "training/loans/roles"
    shutil.copytree(PROJECT / "training/loans/roles", folder)
    (folder / "README.md").write_text("Beside the data; no weights learn from it.", encoding="utf-8")
    before = learned_from(patterns, PROJECT)
    assert learned_from(patterns, tmp_path) == before
    first = min(folder.glob("*.jsonl"))
    if change == "edit":
        first.write_bytes(first.read_bytes().replace(b"borrower", b"borrowed", 1))
    elif change == "rename":
        first.rename(folder / "other.jsonl")
    elif change == "add":
        (folder / "more.jsonl").write_bytes(b"")
    else:
        first.unlink()
    assert learned_from(patterns, tmp_path) != before


def test_missing_data_are_no_data(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"no file is called data/\*\.txt"):
        learned_from(["data/*.txt"], tmp_path)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_who_trains_tells_the_files_that_it_reads(trainer: str):
    """The constants of the script are run without what it imports, which takes long."""
    tree = ast.parse((PROJECT / "tools" / f"{trainer}.py").read_text(encoding="utf-8"))
    constants = [each for each in tree.body if isinstance(each, ast.Assign) and all(map(plain, ast.walk(each)))]
    known: dict[str, object] = {"Path": Path, "Tensor": object}
    exec(compile(ast.Module(constants, []), trainer, "exec"), known)
    if trainer == "train_policy_reader":
        files = sorted((PROJECT / str(known["FOLDER"])).glob("*.txt"))
        patterns = [f"{known['FOLDER']}/{path.name}" for path in files if path.stem not in known["UNSEEN"]]
        patterns.append(f"{known['HOUSES']}/*.yaml")
    else:
        patterns = known["LEARNED_FROM"]
    assert all(told(PROJECT / weights)["files"] == patterns for weights in TRAINERS[trainer])
    source = ast.unparse(tree)
    assert "notes(" in source or "learned_from(" in source, "written with the weights"


def plain(node: ast.AST) -> bool:
    """Whether a part of a constant needs nothing but other constants and paths."""
    return not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id in {"Path", "str"})


def test_weights_of_contracts_name_the_texts_they_learned_from(external_data: Path):
    contracts = load_cuad(external_data / "contract_review" / "cuad")
    assert {own for _, own in default_model().trained_on} == {digest(each.document.text) for each in contracts}
    agreements = load_contractnli(external_data / "contract_review" / "contractnli")
    assert load_learned().trained_on == {letters_of(each.document.text) for each in agreements.agreements}
