"""Data of other publishers: told by their hash, refused in another version, and results on them that are not stale."""

import subprocess
import sys
from pathlib import Path

import pandas
import pytest

from ovrag_core.base.errors import DocumentError
from ovrag_core.publish.stages import changes, read_stages
from ovrag_core.study.book import EXTERNAL
from ovrag_core.study.external import SETS, DataSet, accepted, digest, read_sets, refuse_other_versions, write_sets

STUDIES = ("contract_review", "epistemic", "policy", "causal_chains", "causal_questions")


def data_set(path: str, sha256: str = "") -> DataSet:
    return DataSet(name="Tides", path=path, publisher="Harbour", version="of May", licence="MIT", sha256=sha256)


def test_a_hash_is_of_the_names_and_bytes_of_all_files(tmp_path: Path) -> None:
    for name in ("a/one.txt", "a/b/two.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    known = digest(tmp_path / "a")
    assert len(known) == 64 and known != digest(tmp_path / "a/one.txt")
    (tmp_path / "a/one.txt").rename(tmp_path / "a/three.txt")
    assert digest(tmp_path / "a") != known


def test_another_version_is_refused_and_taken_when_it_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OVRAG_EXTERNAL_DATA", str(tmp_path))
    (tmp_path / "tides.csv").write_text("1")
    with pytest.raises(DocumentError, match=r"is not the version of Tides that data/external.yaml names \(of May"):
        refuse_other_versions([data_set("tides.csv", "0" * 64)])
    with pytest.raises(DocumentError, match="is not there; let OVRAG_EXTERNAL_DATA name the folder"):
        refuse_other_versions([data_set("gone.csv")])
    path = tmp_path / "sets.yaml"
    path.write_text(accepted({"tides": [data_set("tides.csv")]}), encoding="utf-8")
    (found,) = read_sets(path)["tides"]
    refuse_other_versions([found])
    write_sets("tides", [found], tmp_path / "tables")
    written = pandas.read_csv(tmp_path / "tables/tides/external/sets.csv")
    assert written.to_dict("records") == [
        {"data": "Tides", "publisher": "Harbour", "version": "of May", "licence": "MIT", "SHA-256": found.sha256[:12]}
    ]


def test_an_unknown_study_and_a_broken_list_are_one_sentence(tmp_path: Path, project: Path) -> None:
    command = [sys.executable, "-m", "ovrag_core.study.external", "tides"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "data/external.yaml has no study tides" in done.stderr
    (tmp_path / "sets.yaml").write_text("tides: [{name: Tides}]")
    with pytest.raises(DocumentError, match="restore it from git"):
        read_sets(tmp_path / "sets.yaml")


def test_the_data_at_hand_are_those_that_results_rest_on(external_data: Path, project: Path) -> None:
    assert external_data.is_dir()
    for listed in read_sets(project / SETS).values():
        refuse_other_versions(listed)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:dvc")
def test_results_on_data_of_others_are_not_older_than_the_code_that_made_them(project: Path) -> None:
    stages = {name: stage for name, stage in read_stages(project).items() if name.startswith(EXTERNAL)}
    assert set(stages) == {f"{EXTERNAL}_{study}" for study in STUDIES}
    for name, stage in stages.items():
        assert stage.remedy == "make external"
        stale = changes(read_stages(project), name)
        assert not stale, f"results on data of others are stale, run `{stage.remedy}`: {stale[0]}"
        assert {item.state for item in stage.outputs} == {"same"}


def test_results_on_data_of_others_name_no_sentence_of_them(project: Path) -> None:
    """Tables that quote the data are left out: the questions of a golden set, and of cards, are not in git."""
    for study in STUDIES:
        names = {path.stem for path in (project / "tables" / study / EXTERNAL).glob("*.csv")}
        assert "sets" in names
        assert not names & {"cases", "cards", "questions_inside", "questions_flagged", "questions_contested"}
