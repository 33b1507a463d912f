"""`ovrag contract-review`: shapes that are scored, offsets, arms, exit codes, and one line for each bad input."""

import csv
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy
import pytest
from faulty_server import Call, scripted
from reportlab.pdfgen.canvas import Canvas

from ovrag_core.base.settings import Settings
from ovrag_core.retrieval.embedding import Vectors
from ovrag_studies.contract_review import arms, results, review_experiments
from ovrag_studies.contract_review.answering.learned import ClauseModel, Trainer
from ovrag_studies.contract_review.answering.scorers import LearningSettings
from ovrag_studies.contract_review.inference import nli, nli_reading
from ovrag_studies.contract_review.retrieval.expansion import vocabulary
from ovrag_studies.contract_review.texts.datasets import NliSet, load_contractnli, load_cuad

Run = Callable[..., tuple[int, str, str]]
FAST = LearningSettings(iterations=4, answer_trees=4)
SUPPLY = """SUPPLY AGREEMENT

1. Governing Law. This Agreement is governed by the laws of the State of {state}.
2. Insurance. The Supplier shall keep insurance of at least $1,000,000 per occurrence.
3. Delivery. The Supplier delivers the goods to the place that the Customer names in its order.
4. Assignment. Neither party may assign this Agreement without the consent of the other party.
"""
SECRECY = """NON-DISCLOSURE AGREEMENT

1. All information that a party marks as confidential is Confidential Information.
2. The Recipient shall not disclose Confidential Information to any third party.
3. The Recipient shall return all Confidential Information when this Agreement ends.
"""


class Words:
    """Stands in for the sentence embedder: words, hashed to its width."""

    name = "words"

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = numpy.zeros((len(texts), 384), dtype=numpy.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.strip(".,;:()").encode()) % 384] += 1
        return vectors / numpy.maximum(1e-9, numpy.linalg.norm(vectors, axis=1, keepdims=True))


@pytest.fixture
def ovrag(call: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `ovrag contract-review` in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(arms, "minilm", Words)
    monkeypatch.setattr(nli_reading, "minilm", Words)

    return partial(call, "contract-review")


@pytest.fixture
def supply(tmp_path: Path) -> Path:
    path = tmp_path / "supply.txt"
    path.write_text(SUPPLY.format(state="Utah"), encoding="utf-8")
    return path


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def data_set(folder: Path, states: Sequence[str]) -> Path:
    """Contracts that differ in the state whose law governs, with two questions each."""
    (folder / "texts").mkdir(parents=True)
    listed = []
    for state in states:
        text = SUPPLY.format(state=state)
        (folder / "texts" / f"{state}.txt").write_text(text, encoding="utf-8")
        clause = f"This Agreement is governed by the laws of the State of {state}."
        law = {"text": clause, "answer_start": text.index(clause)}
        title = f"{state} Supply"
        asked = [
            {"id": f"{title}__Governing Law", "category": "Governing Law", "answers": [law]},
            {"id": f"{title}__Exclusivity", "category": "Exclusivity", "answers": []},
        ]
        listed.append({"title": title, "text_file": f"texts/{state}.txt", "qas": asked})
    (folder / "questions.json").write_text(json.dumps({"data": listed}), encoding="utf-8")
    return folder


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClauseModel:
    """A small model in place of the weights, trained on contracts of other states than those of a test."""
    known = load_cuad(data_set(tmp_path / "known", ("Ohio", "Iowa", "Maine")))
    model = Trainer(known, list(vocabulary()), Words(), FAST).fit()
    monkeypatch.setattr(arms, "default_model", lambda: model)
    monkeypatch.setattr(arms, "Trainer", lambda contracts, categories, own: Trainer(contracts, categories, own, FAST))
    return model


def test_the_checklist_has_41_items_with_quotes_at_their_places(ovrag: Run, supply: Path) -> None:
    code, out, _ = ovrag("review", str(supply), "--arm", "extractive", "--format", "jsonl")
    records = lines(out)
    assert (code, len(records)) == (0, 41)
    assert {each["id"] for each in records} == {f"supply__{category}" for category in vocabulary()}
    text = supply.read_bytes().decode("utf-8")
    assert all(0 <= each["present"] <= 1 for each in records)
    quotes = [quote for each in records for quote in each["answers"]]
    assert quotes and all(text[each["start"] : each["end"]] == each["text"] for each in quotes)
    [law] = [each for each in records if each["category"] == "Governing Law"]
    assert "Utah" in law["answers"][0]["text"] and law["answers"][0]["section"] == "1 Governing Law"


def test_offsets_of_plain_text_are_those_of_the_file(ovrag: Run, tmp_path: Path) -> None:
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbf" + SUPPLY.format(state="Utah").replace("\n", "\r\n").encode())
    text = path.read_bytes().decode("utf-8")
    _, out, _ = ovrag("review", str(path), "--arm", "extractive", "--format", "jsonl")
    quotes = [quote for each in lines(out) for quote in each["answers"]]
    assert quotes and all(text[each["start"] : each["end"]] == each["text"] for each in quotes)
    _, out, _ = ovrag("search", str(path), "governing law", "--format", "jsonl")
    [found] = lines(out)
    assert all(text[each["start"] : each["end"]] == each["text"] for each in found["chunks"])


def test_the_checklist_for_people_says_what_is_missing(ovrag: Run, supply: Path, trained: ClauseModel) -> None:
    code, out, _ = ovrag("review", str(supply))
    assert code == 0
    assert out.startswith("supply: ") and "of 41 items present" in out
    assert "Exclusivity" in out and "not found" in out


def test_pdf_and_html_go_in(ovrag: Run, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    for number, line in enumerate(SUPPLY.format(state="Utah").splitlines()):
        canvas.drawString(72, 760 - 16 * number, line)
    canvas.save()
    paragraphs = "".join(f"<p>{line}</p>" for line in SUPPLY.format(state="Utah").splitlines() if line)
    (tmp_path / "b.html").write_text(f"<html><body>{paragraphs}</body></html>", encoding="utf-8")
    for name in ("a.pdf", "b.html"):
        code, out, _ = ovrag("search", name, "--category", "Governing Law", "--format", "json")
        assert code == 0
        assert "laws of the State of Utah" in json.loads(out)["chunks"][0]["text"]


def test_hypotheses_are_judged_with_evidence(ovrag: Run, tmp_path: Path) -> None:
    (tmp_path / "12.txt").write_text(SECRECY, encoding="utf-8")
    code, out, _ = ovrag("nli", "12.txt", "--arm", "lexical", "--format", "jsonl")
    records = lines(out)
    assert (code, len(records)) == (0, 17)
    assert {each["document"] for each in records} == {12}
    assert {each["choice"] for each in records} <= {"Entailment", "Contradiction", "NotMentioned"}
    spans = [one for each in records for one in each["evidence"]]
    assert spans and all(0 <= one["start"] < one["end"] <= len(SECRECY) for one in spans)
    code, out, _ = ovrag("nli", "12.txt", "--arm", "majority")
    assert code == 0 and len(out.splitlines()) >= 18


@pytest.mark.parametrize(
    "what",
    [
        ("retrieval",),
        ("retrieval", "--arm", "learned"),
        ("graph",),
        ("graph", "--arm", "v1"),
        ("graph", "--arm", "v2"),
        ("answers",),
        ("answers", "--arm", "extractive"),
    ],
    ids=" ".join,
)
def test_every_question_of_a_data_set_is_asked(
    ovrag: Run, tmp_path: Path, trained: ClauseModel, what: tuple[str, ...]
) -> None:
    folder = str(data_set(tmp_path / "cuad", ("Utah", "Texas")))
    assert ovrag("run", *what, "--data", folder, "--out", "out.jsonl")[0] == 0
    records = lines(Path("out.jsonl").read_text(encoding="utf-8"))
    assert [each["id"] for each in records] == [
        f"{state} Supply__{each}" for state in ("Utah", "Texas") for each in ("Governing Law", "Exclusivity")
    ]
    if what[0] == "answers":
        texts = {state: SUPPLY.format(state=state) for state in ("Utah", "Texas")}
        quotes = [(texts[each["id"].split()[0]], quote) for each in records for quote in each["answers"]]
        assert quotes and all(text[quote["start"] : quote["end"]] == quote["text"] for text, quote in quotes)
    else:
        first = {each["id"]: each["chunks"][0] for each in records}["Utah Supply__Governing Law"]
        assert first["start"] == 0, "a contract is one chunk, and holds the clause"
    assert not list(tmp_path.glob("*.partial"))


def test_every_hypothesis_of_agreements_is_judged(ovrag: Run, project: Path) -> None:
    folder = str(project / "data/samples/contract_review")
    assert ovrag("run", "nli", "--arm", "lexical", "--data", folder, "--out", "out.jsonl")[0] == 0
    asked = {(each["document"], each["hypothesis"]) for each in lines(Path("out.jsonl").read_text(encoding="utf-8"))}
    assert len(asked) == 170


def sampled(count: int) -> tuple[str, str]:
    return "-S", f"studies.contract_review.sample={count}"


def test_a_sample_is_asked_and_the_learned_arm_is_taught_by_all(
    ovrag: Run, tmp_path: Path, trained: ClauseModel
) -> None:
    folder = str(data_set(tmp_path / "cuad", ("Iowa", "Maine", "Ohio", "Utah")))
    for what in ("answers", "retrieval"):
        code, _, err = ovrag("run", what, "--data", folder, "--out", "out.jsonl", *sampled(4))
        ids = [each["id"] for each in lines(Path("out.jsonl").read_text(encoding="utf-8"))]
        assert ids == [
            f"{state} Supply__{each}" for state in ("Iowa", "Ohio") for each in ("Governing Law", "Exclusivity")
        ]
        assert code == 0 and ("3 of 4 contracts were in the training" in err) == (what == "answers")


@pytest.mark.parametrize("trained_on", [0, 7])
def test_a_sample_of_hypotheses_is_spread_over_hypotheses_and_agreements(
    ovrag: Run, project: Path, monkeypatch: pytest.MonkeyPatch, trained_on: int
) -> None:
    monkeypatch.setattr(arms, "agreements_trained_on", lambda given: list(given[:trained_on]))
    monkeypatch.setattr(nli, "out_of_fold", lambda data, _: dict(judged(data)))

    def judged(data: NliSet):
        assert len(data.agreements) == 7, "all that are here teach, whichever are asked"
        for each in data.agreements:
            yield each.number, nli.lexical(each.document, each.spans, data.hypotheses)

    folder = str(project / "data/samples/contract_review/contractnli")
    assert ovrag("run", "nli", "--arm", "majority", "--data", folder, "--out", "out.jsonl", *sampled(20))[0] == 0
    records = lines(Path("out.jsonl").read_text(encoding="utf-8"))
    assert len({each["document"] for each in records}) == 10 and len({each["hypothesis"] for each in records}) == 17
    assert len(records) == 20


def played(call: Call) -> object:
    """Reply of a model: of the checklist a quote that is there, one that is not, one of another clause, and none.

    Of the hypotheses the right choice with an invented quote, silence, a wrong choice, and none that is known.
    """
    moon, insured = "The moon is made of cheese.", "The Supplier shall keep insurance"
    law = "This Agreement is governed by the laws of the State of Nevada."
    if "Item: Governing Law" in call.prompt:
        return {"quotes": [law if "Nevada" in call.prompt else moon], "confidence": 0.9}
    if "Item: Exclusivity" in call.prompt:
        return {"quotes": [insured], "confidence": 0.9} if "Nevada" in call.prompt else "There is none."
    choices = {"reverse engineer": "Entailment", "only include technical": "NotMentioned", "may retain": "Entailment"}
    statement = call.messages[1]["content"].rpartition("Statement: ")[2]
    choice = next((choices[words] for words in choices if words in statement), "Perhaps")
    return {"reasoning": "", "choice": choice, "quotes": [moon] if "reverse" in statement else []}


def test_a_model_stands_beside_the_offline_arms_on_the_same_sample_and_is_replayed(
    start: Callable[..., Settings],
    ovrag: Run,
    project: Path,
    tmp_path: Path,
    trained: ClauseModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(review_experiments, "minilm", Words)
    monkeypatch.setattr(review_experiments, "JUDGES", ("majority", "lexical"))  # the learned one takes its time
    folder = data_set(tmp_path / "cuad", ("Nevada", "Texas", "Utah", "Kansas"))
    data = {"cuad": str(folder), "contractnli": str(project / "data/samples/contract_review/contractnli")}
    own = {"sample": 4, "data": data, "answers": {"arm": "chat"}, "nli": {"arm": "chat_rag"}}
    settings = start(scripted(played)).model_copy(update={"studies": {"contract_review": own}})

    def written(settings: Settings, tables: Path) -> list[dict[str, str]]:
        sample = review_experiments.ask_model(settings)
        book = replace(results.open_book(settings, 4, 10), tables=tables)
        results.model_table(book, sample)
        with (tables / "contract_review/samples/model.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    rows = written(settings, tmp_path / "1")
    columns = ("right", "wrong", "silent", "unusable", "right_there", "invented_quotes")
    found = {(row["task"], row["arm"]): tuple(int(row[name]) for name in columns) for row in rows}
    assert list(found) == [
        *(("checklist", arm) for arm in ("extractive", "learned", "chat")),
        *(("hypotheses", arm) for arm in ("majority", "lexical", "chat_rag")),
    ]
    assert found["checklist", "chat"] == found["hypotheses", "chat_rag"] == (1, 1, 1, 1, 1, 1)
    assert all(sum(counts[:4]) == 4 for counts in found.values())
    assert len(start.servers[0].calls) == 10, "eight questions, and two replies that were to be repaired"
    offline = settings.model_copy(update={"llm": settings.llm.model_copy(update={"provider": "replay"})})
    assert written(offline, tmp_path / "2") == rows and len(start.servers[0].calls) == 10
    first, again = (
        (tmp_path / each / "contract_review/samples/model.tex").read_text(encoding="utf-8") for each in "12"
    )
    assert first == again and "test-model" in first
    assert "4 questions, 2 with an answer, and 4 hypotheses" in " ".join(first.split())


def test_contracts_of_the_training_are_scored_out_of_fold_and_said_to_be(
    ovrag: Run, tmp_path: Path, trained: ClauseModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(data_set(tmp_path / "cuad", ("Iowa", "Maine", "Ohio", "Utah")))
    models: list[ClauseModel] = []
    kept = Trainer.out_of_fold

    def watched(self: Trainer):
        for contract, reading, model in kept(self):
            assert contract.document.id not in {title for title, _ in model.trained_on}
            models.append(model)
            yield contract, reading, model

    monkeypatch.setattr(Trainer, "out_of_fold", watched)
    code, _, err = ovrag("run", "answers", "--data", folder, "--out", "out.jsonl")
    assert code == 0 and "3 of 4 contracts were in the training of the weights" in err
    assert len(models) == 3
    assert len(lines(Path("out.jsonl").read_text(encoding="utf-8"))) == 8


def test_a_contract_of_the_training_is_refused(ovrag: Run, tmp_path: Path, trained: ClauseModel) -> None:
    (tmp_path / "other name.txt").write_text(SUPPLY.format(state="Ohio").replace("\n", "\n\n"), encoding="utf-8")
    code, out, err = ovrag("review", "other name.txt")
    assert (code, out) == (2, "") and "was in the training of the weights" in err


def test_agreements_of_the_training_are_judged_out_of_fold(
    ovrag: Run, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project / "data/samples/contract_review/contractnli"
    agreements = load_contractnli(folder).agreements
    monkeypatch.setattr(arms, "agreements_trained_on", lambda given: list(given[:7]))
    asked: list[tuple[int, str]] = []

    def out_of_fold(data, name):
        asked.append((len(data.agreements), name))
        return {each.number: nli.lexical(each.document, each.spans, data.hypotheses) for each in data.agreements}

    monkeypatch.setattr(nli, "out_of_fold", out_of_fold)
    code, _, err = ovrag("run", "nli", "--arm", "majority", "--data", str(folder), "--out", "out.jsonl")
    assert code == 0 and asked == [(7, "majority")] and "7 of 10 agreements were in the training" in err
    got = [each["document"] for each in lines(Path("out.jsonl").read_text(encoding="utf-8"))]
    assert got == [each.number for each in agreements for _ in range(17)]


def test_a_whole_folder_is_read_and_what_cannot_be_is_told(ovrag: Run, supply: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    Canvas(str(tmp_path / "scan.pdf")).save()
    code, out, err = ovrag("review", str(tmp_path), "--arm", "extractive", "--format", "jsonl")
    assert code == 2
    assert {each["document"] for each in lines(out)} == {"supply"}
    assert sorted(line.split()[1] for line in err.splitlines()) == ["empty.txt", "scan.pdf"]


def test_a_contract_of_one_line_has_an_answer_for_every_item(ovrag: Run, tmp_path: Path, trained: ClauseModel) -> None:
    (tmp_path / "short.txt").write_text("This letter is governed by the laws of Utah.", encoding="utf-8")
    for words in (("--arm", "extractive"), ()):
        code, out, _ = ovrag("review", "short.txt", *words, "--format", "jsonl")
        assert code == 0 and len(lines(out)) == 41
    code, out, _ = ovrag("nli", "short.txt", "--arm", "lexical", "--format", "jsonl")
    assert code == 0 and len(lines(out)) == 17


def test_a_contract_of_340_000_characters_is_read_whole(ovrag: Run, tmp_path: Path, trained: ClauseModel) -> None:
    clauses = [
        f"{number}. Delivery. Lot {number} goes to the place that the Customer names." for number in range(1, 5200)
    ]
    text = "\n".join([*clauses, "5200. Governing Law. The laws of the State of Utah govern this Agreement."])
    assert len(text) > 340_000
    (tmp_path / "long.txt").write_text(text, encoding="utf-8")
    code, out, _ = ovrag(
        "review", "long.txt", "--category", "Governing Law", "--arm", "extractive", "--format", "jsonl"
    )
    [record] = lines(out)
    assert code == 0 and "Utah" in record["answers"][0]["text"]
    code, out, _ = ovrag("search", "long.txt", "governed by the laws of the State", "--format", "jsonl")
    assert code == 0 and "Utah" in lines(out)[0]["chunks"][0]["text"]


def test_the_second_of_two_contracts_of_one_title_is_named_and_not_read(ovrag: Run, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / "all" / folder).mkdir(parents=True)
        (tmp_path / "all" / folder / "supply.txt").write_text(SUPPLY.format(state="Utah"), encoding="utf-8")
    code, out, err = ovrag("review", "all", "--arm", "extractive", "--category", "Insurance", "--format", "jsonl")
    assert code == 2 and len(lines(out)) == 1
    assert err == "ovrag: all/b/supply.txt: another contract is called supply too; rename one of them\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("search", "supply.txt", "x", "-S", "studies.contract_review.retrieval.k=["), "the value is not valid YAML"),
        (("search", "supply.txt", "x", "-S", "studies.contract_review.retrieval.k.l=1"), "holds a value and no keys"),
        (("search", "supply.txt", "x", "-S", "studies.contract_revue.retrieval.k=1"), "did you mean contract_review?"),
        (("review", "none.txt"), "none.txt does not exist"),
        (("review", "supply.txt", "--category", "Weather"), "'Weather' is no category of the checklist"),
        (("review", "supply.txt", "--arm", "guess"), "'guess' is not one of"),
        (("review", "supply.txt", "--arm", "chat"), "answers.arm: chat asks a chat model; set llm.provider"),
        (("nli", "supply.txt", "--arm", "chat_rag"), "nli.arm: chat_rag asks a chat model; set llm.provider"),
        (("search", "supply.txt"), "name either a query or a --category"),
        (("search", "supply.txt", "  "), "the question is empty"),
        (("search", "supply.txt", "--category", "Weather"), "'Weather' is no category"),
        (("search", "supply.txt", "x", "-S", "studies.contract_review.retrieval.k=0"), "retrieval.k: input should be"),
        (("search", "supply.txt", "x", "-S", "studies.contract_review.retrieval.kk=1"), "contract_review.retrieval.k?"),
        (("search", "supply.txt", "x", "-S", "studies.contract_review.retrieval.retriever=learned"), "no free words"),
        (("run", "weather", "--out", "o.jsonl"), "'weather' is not one of"),
        (("run", "retrieval", "--data", "nowhere", "--out", "o.jsonl"), "nowhere does not exist"),
        (("run", "retrieval", "--data", ".", "--out", "o.jsonl"), "holds neither questions.json nor"),
        (("run", "retrieval", "--arm", "magic", "--out", "o.jsonl"), "retrieval.retriever: input should be"),
        (("run", "nli", "--arm", "magic", "--out", "o.jsonl"), "nli.arm: input should be"),
        (("run", "nli", "--data", ".", "--out", "o.jsonl"), "holds no ContractNLI file"),
        (("run", "retrieval", "--out", "no/o.jsonl"), "no/o.jsonl cannot be written"),
    ],
)
def test_bad_input_is_one_line_and_ends_with_two(
    ovrag: Run, supply: Path, words: tuple[str, ...], sentence: str
) -> None:
    code, _, err = ovrag(*words)
    assert code == 2
    assert sentence in err
    assert len(err.strip().splitlines()) == 1 and "Traceback" not in err
