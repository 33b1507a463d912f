"""Hypotheses about agreements on confidentiality: judged by majority, cues, training and chat models, and measured."""

from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import numpy
import pytest

from ovrag_core.base.errors import CorpusError, DocumentError, ModelSetupError, QuestionError
from ovrag_core.base.types import Document, Usage
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.llm.chat import ChatModel, Completion, Request
from ovrag_studies.contract_review.checklist import nli_record
from ovrag_studies.contract_review.inference import nli_chat
from ovrag_studies.contract_review.inference.nli import (
    JUDGES,
    EvidenceSpan,
    Judge,
    JudgedHypothesis,
    LearnedJudge,
    lexical,
    load_learned,
    majority_of,
    out_of_fold,
    save,
    train,
)
from ovrag_studies.contract_review.inference.nli_chat import ChatJudge, ask_all, examples_for
from ovrag_studies.contract_review.inference.nli_cues import cue_hits, cues, plain
from ovrag_studies.contract_review.inference.nli_reading import find_leads
from ovrag_studies.contract_review.measures.nli_metrics import AskedHypothesis, asked_of, estimates
from ovrag_studies.contract_review.texts.datasets import (
    Choice,
    GoldJudgement,
    NliAgreement,
    NliSet,
    Span,
    load_contractnli,
)

PLAN = Resampling(samples=200)


def judge(
    document: Document,
    spans: Sequence[Span] | None,
    hypotheses: Mapping[str, str],
    model: Judge | str = "learned",
) -> list[JudgedHypothesis]:
    return (JUDGES[model]() if isinstance(model, str) else model)(document, spans, hypotheses)


HYPOTHESES = {
    "nda-11": "The recipient shall not reverse engineer what embodies confidential information.",
    "nda-18": "The recipient shall not solicit the discloser's people.",
    "nda-20": "The recipient may keep some confidential information after its return.",
    "nda-12": "The recipient may develop similar information by itself.",
}
ALWAYS = (
    "Mutual Confidentiality Agreement",
    "The parties wish to discuss the delivery of pumps.",
    "This Agreement is governed by the law of Norway.",
    "Notices are sent by registered letter.",
)
CLAUSES: dict[str, dict[Choice, Sequence[str]]] = {
    "nda-11": {
        "Entailment": (
            "The Recipient shall not reverse engineer or disassemble any sample.",
            "No sample may be decompiled or reverse engineered by the Receiving Party.",
        )
    },
    "nda-18": {
        "Entailment": (
            "For one year the Recipient shall not solicit or hire the Discloser's employees.",
            "Neither party will entice away or employ the staff of the other.",
        )
    },
    "nda-20": {
        "Entailment": (
            "The Recipient returns all documents but may retain one archival copy.",
            "Back-up copies may be kept by the Receiving Party after the return.",
        ),
        "Contradiction": (
            "The Recipient shall return every document and retain no copies.",
            "All copies are destroyed on request, without keeping any of them.",
        ),
    },
    "nda-12": {},
}


def agreement(number: int, chosen: dict[str, Choice], form: int = 0) -> NliAgreement:
    """An agreement that says of each hypothesis what it is told to."""
    sentences = list(ALWAYS)
    told: dict[str, str] = {}
    for name, choice in chosen.items():
        if wordings := CLAUSES[name].get(choice):
            told[name] = wordings[form % len(wordings)]
            sentences.insert(2 + number % 2, told[name])
    text = "\n".join(sentences) + f"\nDone in {number + 2} originals."
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:place]) for place in range(len(lines))]
    spans = tuple((start, start + len(line)) for start, line in zip(starts, lines, strict=True))
    judgements = tuple(
        GoldJudgement(name, choice, (lines.index(told[name]),) if name in told else ())
        for name, choice in chosen.items()
    )
    return NliAgreement(Document(f"{number:03}.txt", text), number, spans, judgements)


def agreements(count: int) -> NliSet:
    """Agreements of every combination; one hypothesis is never mentioned, another never contradicted."""
    chance = random.Random(3)
    two: tuple[Choice, ...] = ("Entailment", "NotMentioned")
    three: tuple[Choice, ...] = (*two, "Contradiction")
    made = []
    for number in range(count):
        chosen: dict[str, Choice] = {
            "nda-11": two[number % 2],
            "nda-18": chance.choice(two),
            "nda-20": three[number % 3],
            "nda-12": "NotMentioned",
        }
        made.append(agreement(number, chosen, chance.randrange(2)))
    return NliSet(tuple(made), HYPOTHESES)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # vectors are kept below the current folder


@pytest.fixture(scope="module")
def data() -> NliSet:
    return agreements(16)


@pytest.fixture(scope="module")
def learned(data: NliSet, tmp_path_factory: pytest.TempPathFactory) -> LearnedJudge:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("training"))
        file = Path("weights/nli.safetensors")
        save(train(data.agreements, data.hypotheses), list(data.hypotheses), data.agreements, file)
        return load_learned(file.resolve())


def by_name(judged: Sequence[JudgedHypothesis]) -> dict[str, JudgedHypothesis]:
    return {each.hypothesis: each for each in judged}


# learned


def test_the_learned_judge_finds_choice_and_evidence_in_an_agreement_it_has_not_seen(learned: LearnedJudge) -> None:
    choices: dict[str, Choice] = {"nda-11": "Entailment", "nda-18": "NotMentioned", "nda-20": "Contradiction"}
    asked = agreement(77, {**choices, "nda-12": "NotMentioned"}, form=1)
    results = by_name(judge(asked.document, asked.spans, HYPOTHESES, learned))
    assert {name: results[name].choice for name in choices} == choices
    for name in ("nda-11", "nda-20"):
        best = results[name].evidence[0]
        place = next(each.evidence[0] for each in asked.judgements if each.hypothesis == name)
        assert (best.start, best.end) == asked.spans[place]
        assert [each.score for each in results[name].evidence] == sorted(
            (each.score for each in results[name].evidence), reverse=True
        )
    assert all(sum(each.probabilities.values()) == pytest.approx(1, abs=1e-5) for each in results.values())


def test_a_choice_that_never_occurs_in_training_is_never_made(learned: LearnedJudge) -> None:
    asked = agreement(78, {"nda-11": "Entailment", "nda-20": "Entailment"})
    results = by_name(judge(asked.document, asked.spans, HYPOTHESES, learned))
    assert results["nda-12"].choice == "NotMentioned"
    assert results["nda-18"].probabilities["Contradiction"] < 0.5


def test_an_agreement_of_the_training_is_refused(data: NliSet, learned: LearnedJudge) -> None:
    known = data.agreements[0]
    renamed = Document("other.txt", known.document.text.replace("\n", "\r\n  "))
    with pytest.raises(CorpusError, match=r"other\.txt was among the agreements .* out of fold"):
        judge(renamed, None, HYPOTHESES, learned)


def test_out_of_fold_every_agreement_is_judged_by_others(data: NliSet) -> None:
    results = out_of_fold(data, "learned")
    assert list(results) == [each.number for each in data.agreements]
    asked = {each.number: asked_of(each, results[each.number]) for each in data.agreements}
    found = measure([row for rows in asked.values() for row in rows])
    assert found["accuracy"] > 0.9
    assert found["evidence_recall@3"] > 0.95


def test_some_hypotheses_can_be_asked_alone_and_in_any_order(data: NliSet, learned: LearnedJudge) -> None:
    asked = agreement(79, {"nda-20": "Entailment", "nda-11": "NotMentioned"})
    every = by_name(judge(asked.document, asked.spans, HYPOTHESES, learned))
    two = {name: HYPOTHESES[name] for name in ("nda-20", "nda-11")}
    assert judge(asked.document, asked.spans, two, learned) == [every["nda-20"], every["nda-11"]]


def test_training_twice_gives_the_same_bytes(data: NliSet) -> None:
    for name in ("a", "b"):
        save(train(data.agreements, HYPOTHESES), list(HYPOTHESES), data.agreements, Path(f"{name}.safetensors"))
    assert Path("a.safetensors").read_bytes() == Path("b.safetensors").read_bytes()
    about = json.loads(Path("a.json").read_text())
    assert about["licence"].startswith("CC BY 4.0")
    assert [each["id"] for each in about["trained_on"]] == list(range(16))
    assert "pumps" not in Path("a.json").read_text()


def test_too_few_agreements_and_missing_judgements_are_refused(data: NliSet) -> None:
    with pytest.raises(CorpusError, match="too few"):
        train(data.agreements[:4], HYPOTHESES)
    short = NliAgreement(Document("x", "A word."), 99, ((0, 7),), ())
    with pytest.raises(CorpusError, match="document 99 has no judgement of nda-11"):
        train((*data.agreements, short), HYPOTHESES)


def test_broken_weights_are_one_line(tmp_path: Path) -> None:
    file = tmp_path / "nli.safetensors"
    with pytest.raises(CorpusError, match="train_contract_nli"):
        load_learned(file)
    file.write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00nonsense")
    file.with_suffix(".json").write_text('{"hypotheses": [], "trained_on": []}')
    with pytest.raises(CorpusError, match="train_contract_nli"):
        load_learned(file)


# any judge


@pytest.mark.parametrize("name", ["majority", "lexical", "learned"])
def test_bad_input_is_one_clear_line(name: str) -> None:
    model = JUDGES[name]()
    asked = {"nda-11": HYPOTHESES["nda-11"]}
    with pytest.raises(DocumentError, match=r"empty\.txt holds no text"):
        judge(Document("empty.txt", " \n\t"), (), asked, model)
    with pytest.raises(QuestionError, match="unknown hypothesis 'nda-99'; known are nda-1, nda-2"):
        judge(Document("a.txt", "A text."), None, {"nda-99": "Whatever."}, model)
    with pytest.raises(CorpusError, match="5:99 is not inside"):
        judge(Document("a.txt", "A text."), [(5, 99)], asked, model)


@pytest.mark.parametrize("name", ["lexical", "learned"])
def test_a_plain_contract_without_spans_is_judged_by_its_passages(name: str) -> None:
    text = "1. Tools\n\nThe Recipient shall not decompile or reverse engineer any sample. It shall keep them dry."
    (result,) = judge(Document("plain.txt", text), None, {"nda-11": HYPOTHESES["nda-11"]}, name)
    best = result.evidence[0]
    assert text[best.start : best.end].startswith("The Recipient shall not decompile")
    assert result.choice == "Entailment"


def test_majority_says_what_most_agreements_say(data: NliSet) -> None:
    model = majority_of(data.agreements, list(HYPOTHESES))
    results = by_name(judge(data.agreements[0].document, None, HYPOTHESES, model))
    assert results["nda-12"].choice == "NotMentioned"
    assert results["nda-20"].probabilities["Contradiction"] == pytest.approx(5 / 16)
    assert not any(each.evidence for each in results.values())


def test_lexical_takes_cues_for_and_against() -> None:
    text = "\n".join((*ALWAYS, *CLAUSES["nda-20"]["Contradiction"][:1], *CLAUSES["nda-11"]["Entailment"][:1]))
    results = by_name(judge(Document("a", text), None, HYPOTHESES, lexical))
    assert {name: each.choice for name, each in results.items()} == {
        "nda-11": "Entailment",
        "nda-18": "NotMentioned",
        "nda-20": "Contradiction",
        "nda-12": "NotMentioned",
    }


def test_a_text_without_an_indexed_word_is_judged() -> None:
    assert [each.choice for each in judge(Document("a", "§ 1 ; ?"), None, HYPOTHESES, "lexical")] == [
        "NotMentioned"
    ] * 4


def test_every_cue_compiles_and_reads_even_text() -> None:
    assert plain("The Receiving  Party’s\nConfidential and Proprietary Information, 12 copies") == (
        "the receiver's secret, 0 copies"
    )
    for name in cues():
        assert cue_hits(name, "") == (False, False, False)
    assert cue_hits("nda-99", "anything") == (False, False, False)


def test_items_know_the_span_that_introduces_them() -> None:
    texts = [
        "3. Exceptions",
        "The obligations do not apply to information that:",
        "(a) is public;",
        "(b) is known by:",
        "(i) the Recipient; or",
        "(ii) its bank;",
        "(c) is developed independently.",
        "4. Term",
    ]
    assert find_leads(texts) == [-1, -1, 1, 1, 3, 3, 1, -1]


# measures


def measure(rows: Sequence[AskedHypothesis]) -> dict[str, float | None]:
    return {name: figure.value for name, figure in estimates({0: rows}, PLAN).items()}


def scorer(folder: Path) -> ModuleType:
    file = folder.parent / "tools" / "score_contract_review.py"
    if not file.is_file():
        pytest.skip("no scorer beside the external data")
    spec = importlib.util.spec_from_file_location("score_contract_review", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results_with_every_fault(data: NliSet) -> dict[int, list[JudgedHypothesis]]:
    """Invented results: ties, halves of spans, unions of spans, choices that are missing."""
    chance = random.Random(5)
    results: dict[int, list[JudgedHypothesis]] = {}
    for each in data.agreements:
        listed = []
        for name in HYPOTHESES:
            choice = chance.choice(("Entailment", "Contradiction", "NotMentioned", None))
            found = []
            for start, end in each.spans:
                shape = chance.randrange(5)
                stop = {0: end, 1: start + (end - start) // 3 + 1, 2: min(end + 30, len(each.document.text))}.get(shape)
                if stop:
                    found.append(EvidenceSpan(start, stop, round(chance.choice((0.2, 0.5, chance.random())), 6)))
            listed.append(JudgedHypothesis(name, choice, {}, tuple(found)))
        results[each.number] = listed[chance.randrange(2) :]
    return results


def test_measures_agree_with_the_published_scorer(data: NliSet, external_data: Path, tmp_path: Path) -> None:
    results = results_with_every_fault(data)
    gold = {
        "documents": [
            {
                "id": each.number,
                "spans": each.spans,
                "annotation_sets": [
                    {
                        "annotations": {
                            one.hypothesis: {"choice": one.choice, "spans": list(one.evidence)}
                            for one in each.judgements
                        }
                    }
                ],
            }
            for each in data.agreements
        ]
    }
    lines = [json.dumps(nli_record(number, each)) for number, listed in results.items() for each in listed]
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    (tmp_path / "out.jsonl").write_text("\n".join(lines))
    expected = scorer(external_data).nli(tmp_path / "gold.json", tmp_path / "out.jsonl")
    rows = [row for each in data.agreements for row in asked_of(each, results[each.number])]
    found = measure(rows)
    assert set(found) <= set(expected)
    assert {name: expected[name] for name in found} == pytest.approx(found, abs=6e-5)


def test_measures_by_hand() -> None:
    spans = ((0, 10), (10, 20), (20, 30))
    truth = (
        GoldJudgement("a", "Entailment", (1,)),
        GoldJudgement("b", "Contradiction", (0,)),
        GoldJudgement("c", "NotMentioned", ()),
    )
    asked = NliAgreement(Document("x", "y" * 30), 1, spans, truth)
    given = [
        JudgedHypothesis("a", "Entailment", {}, (EvidenceSpan(0, 10, 0.9), EvidenceSpan(14, 21, 0.8))),
        JudgedHypothesis("b", "Entailment", {}, (EvidenceSpan(0, 4, 1.0),)),
    ]
    found = measure(asked_of(asked, given))
    assert found["accuracy"] == pytest.approx(1 / 3)  # no result for c: wrong
    assert found["f1_E_by_hypothesis"] == 1.0  # b is no hypothesis with an entailment
    assert found["f1_E_pooled"] == pytest.approx(2 / 3)
    assert found["f1_C_by_hypothesis"] == 0.0
    assert found["evidence_recall@3"] == 0.5  # a covers six tenths of its span, b only four
    assert found["evidence_ap_per_question"] == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_intervals_are_over_documents(data: NliSet) -> None:
    results = results_with_every_fault(data)
    asked = {each.number: asked_of(each, results[each.number]) for each in data.agreements}
    found = estimates(asked, PLAN)["accuracy"]
    assert found.low is not None and found.high is not None and found.value is not None
    assert found.low < found.value < found.high
    assert found.clusters == 16
    single = {number: asked[number] for number in list(asked)[:1]}
    assert estimates(single, PLAN)["accuracy"].low is None
    with pytest.raises(ValueError, match="no document"):
        estimates({}, PLAN)


# chat


class Server:
    """A backend that replies by a function of the request."""

    def __init__(self, reply: Callable[[Request], str]) -> None:
        self.reply = reply
        self.requests: list[Request] = []

    async def send(self, request: Request, *, anew: bool = False) -> Completion:
        self.requests.append(request)
        return Completion(text=self.reply(request), usage=Usage(calls=1), seconds=0.0, model="m", finish_reason="stop")

    async def embed(self, model: str, texts: Sequence[str]) -> object:
        raise NotImplementedError


def says(choice: str, *quotes: str) -> str:
    return json.dumps({"reasoning": "So it says.", "choice": choice, "quotes": quotes})


def ask(reply: str) -> tuple[JudgedHypothesis, Server]:
    server = Server(lambda _: reply)
    asked = agreement(1, {"nda-11": "Entailment", "nda-20": "Contradiction"})
    model = ChatJudge(ChatModel(server, "m"))
    (judged,) = judge(asked.document, asked.spans, {"nda-11": HYPOTHESES["nda-11"]}, model)
    return judged, server


def test_a_chat_reply_becomes_choice_and_candidate_spans() -> None:
    asked = agreement(1, {"nda-11": "Entailment", "nda-20": "Contradiction"})
    judged, server = ask(
        says("Entailment", "shall  not reverse engineer or disassemble any sample", "the moon is blue")
    )
    place = asked.judgements[0].evidence[0]
    assert judged.choice == "Entailment"
    assert [(each.start, each.end) for each in judged.evidence] == [asked.spans[place]]
    assert judged.invented == 1
    assert "reverse engineer" in server.requests[0].messages[-1].content
    assert server.requests[0].schema is not None


@pytest.mark.parametrize(
    ("reply", "kind"),
    [("The choice is clear.", "MalformedReplyError"), (says("Maybe"), "SchemaReplyError"), ("", "EmptyReplyError")],
)
def test_an_unusable_reply_is_a_fault_and_no_choice(reply: str, kind: str) -> None:
    judged, _ = ask(reply)
    assert judged.choice is None
    assert judged.fault is not None and judged.fault.startswith(kind)


def test_setup_errors_stop_instead_of_counting() -> None:
    def fail(_: Request) -> str:
        raise ModelSetupError("no key")

    model = ChatJudge(ChatModel(Server(fail), "m"))
    with pytest.raises(ModelSetupError, match="no key"):
        judge(Document("a", "A text."), None, HYPOTHESES, model)


def test_rag_shows_the_best_passages_and_places_quotes_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(lambda _: says("Entailment", "The Recipient shall not reverse engineer or disassemble any sample."))
    asked = agreement(1, {"nda-11": "Entailment"})
    text = asked.document.text + "\nNothing else matters here." * 12
    monkeypatch.setattr(nli_chat, "TOP", 2)
    model = ChatJudge(ChatModel(server, "m"))
    (judged,) = judge(Document("a", text), None, {"nda-11": HYPOTHESES["nda-11"]}, model)
    assert "reverse engineer" in server.requests[0].messages[-1].content
    assert "Norway" not in server.requests[0].messages[-1].content
    best = judged.evidence[0]
    assert text[best.start : best.end].startswith("The Recipient shall not reverse engineer")


def test_five_examples_come_from_other_agreements_and_show_every_choice(data: NliSet) -> None:
    examples = examples_for(data, 0)
    assert len(examples) == 5
    assert {each.choice for each in examples} == {"Entailment", "Contradiction", "NotMentioned"}
    server = Server(lambda _: says("NotMentioned"))
    some = NliSet(data.agreements[:1] + data.agreements[5:12], data.hypotheses)
    results = ask_all(some, ChatModel(server, "m"), "chat_five_shot", 42, some.agreements)
    assert len(results) == 8
    first = server.requests[0].messages
    assert [each.role for each in first] == ["system", *(["user", "assistant"] * 5), "user"]
    own = data.agreements[0].document.text.rpartition("\n")[2]
    assert own in first[-1].content
    assert not any(own in each.content for each in first[:-1])
    with pytest.raises(QuestionError, match="to make examples of"):
        examples_for(NliSet(data.agreements[:1], data.hypotheses), 0)


# measured figures


def test_lexical_figures_on_real_agreements(external_data: Path) -> None:
    data = load_contractnli(external_data / "contract_review" / "contractnli")
    some = NliSet(data.agreements[::4], data.hypotheses)
    results = {each.number: judge(each.document, each.spans, data.hypotheses, "lexical") for each in some.agreements}
    found = measure([row for each in some.agreements for row in asked_of(each, results[each.number])])
    assert found["evidence_recall@3"] > 0.85
    assert found["accuracy"] > 0.68


def test_shipped_weights_refuse_the_agreements_they_were_trained_on(external_data: Path) -> None:
    data = load_contractnli(external_data / "contract_review" / "contractnli")
    first = data.agreements[0]
    with pytest.raises(CorpusError, match="was among the agreements"):
        judge(first.document, first.spans, data.hypotheses)
    assert numpy.isfinite(
        sum(each.score for each in judge(first.document, first.spans, data.hypotheses, "lexical")[0].evidence)
    )
