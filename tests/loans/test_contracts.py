import json
import os
import re
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from ovrag_core.base.errors import CorpusError
from ovrag_core.loans import ContractTruth, generate, highlighted, load_truth
from ovrag_core.loans.contracts.draft import Draft, write_pdf
from ovrag_core.loans.contracts.generator import compose, plan, quotas, sample, truth_of
from ovrag_core.loans.contracts.lists import lists, phrasings
from ovrag_core.loans.contracts.speaker import Speaker
from ovrag_core.loans.contracts.terms import PLANTED

WORDINGS = ("plain", "varied")
ONTOLOGY_NAMES = (
    "SecuredLoan|UnsecuredLoan|OpenEndCredit|ClosedEndCredit|ConsumerLoan|CommercialLoan|StudentLoan|GreenLoan|CardAccount"
    "|SubsidizedStudentLoan|NaturalPerson|LegalEntity|FinancialInstitution|GovernmentBody|RealProperty"
)
PRINTED_LABELS = (
    "natural person|legal entity|financial institution|government body|consumer loan|commercial loan|student loan"
    "|green loan|card account|open-?end credit|closed-?end credit"
)
NOT_NEUTRAL = re.compile(rf"{ONTOLOGY_NAMES}|(?i:\b(?:{PRINTED_LABELS})s?\b)|\bhas[A-Z]\w+|rdf:type")


def text_of(path: Path) -> str:
    """The text of a PDF with every run of white space as one blank."""
    return " ".join(" ".join(page.extract_text() for page in PdfReader(path).pages).split())


@pytest.fixture(scope="module", params=WORDINGS)
def corpus(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    truths = generate(folder, folder / "truth.json", count=100, seed=42, wording=request.param)
    return truths, {name: text_of(folder / f"{name}.pdf") for name in truths}, folder


def broken_rules(truth: ContractTruth) -> set[str]:
    """The rule table for loans, written down a second time and independently of the sampler."""
    types, borrower, lender = set(truth.loan_types), truth.borrower.kind, truth.lender.kind
    broken = set()
    if truth.security == "contradictory" or (truth.security == "secured") != (truth.collateral is not None):
        broken.add("secured_unsecured")
    if "Mortgage" in types and truth.security != "secured":
        broken.add("secured_unsecured")
    if truth.credit_form == "contradictory":
        broken.add("openend_closedend")
    if ("StudentLoan" in types and truth.credit_form == "open-end") or (
        "CardAccount" in types and truth.credit_form != "open-end"
    ):
        broken.add("openend_closedend")
    if types & {"ConsumerLoan", "StudentLoan"} and borrower != "natural_person":
        broken.add("borrower_type")
    if "CommercialLoan" in types and borrower == "natural_person":
        broken.add("borrower_type")
    if types & {"CommercialLoan", "Mortgage", "CardAccount"} and lender == "natural_person":
        broken.add("lender_type")
    return broken


def both_sides_said(passages: dict[str, str]) -> set[str]:
    """The rules of which a draft states both sides, whatever its ground truth says."""
    said = set(passages)
    return {
        rule
        for rule, found in (
            ("secured_unsecured", "secured" in said and bool(said & {"unsecured", "no_collateral"})),
            ("openend_closedend", {"open_end", "closed_end"} <= said),
        )
        if found
    }


# --- how many of what


def test_default_distribution_is_the_published_one():
    slots = plan(100)
    assert Counter(PLANTED[variant].clash_type if variant else None for _, variant in slots) == {
        None: 60,
        "secured_unsecured": 15,
        "openend_closedend": 15,
        "borrower_type": 5,
        "lender_type": 5,
    }
    assert all(variant is None for _, variant in slots[:60])
    assert set(Counter(kind for kind, _ in slots[:60]).values()) == {8, 9}
    assert len({kind for kind, _ in slots[:60]}) == 7
    variants = Counter(variant for _, variant in slots[60:])
    assert sorted(variants.values()) == [2, 2, 3, 3, 5, 5, 5, 5, 5, 5]
    assert variants.keys() == PLANTED.keys()


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, [1, 0, 0, 0, 0]),
        (7, [4, 1, 1, 1, 0]),
        (20, [12, 3, 3, 1, 1]),
        (33, [20, 5, 5, 2, 1]),
        (1000, [600, 150, 150, 50, 50]),
    ],
)
def test_other_sizes_scale_by_largest_remainder(count, expected):
    assert list(quotas(count).values()) == expected


@given(st.integers(1, 5000))
def test_quotas_add_up(count):
    quota = quotas(count)
    assert sum(quota.values()) == count
    assert all(
        abs(quota[name] - count * share / 100) < 1 for name, share in zip(quota, (60, 15, 15, 5, 5), strict=True)
    )


def test_no_contracts_is_an_error(tmp_path):
    with pytest.raises(CorpusError, match="at least 1"):
        generate(tmp_path, tmp_path / "truth.json", count=0, seed=42, wording="plain")


# --- what they say


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 40), wording=st.sampled_from(WORDINGS))
def test_clean_contracts_keep_every_rule_and_clashes_break_exactly_theirs(seed, count, wording):
    for terms in sample(count, seed):
        draft = compose(terms, seed=seed, wording=wording)
        truth = truth_of(terms, draft)
        text = " ".join(f"{block.label} {block.text}" for block in draft.blocks)
        expected = {truth.clash_type} if truth.clash_type else set()
        assert broken_rules(truth) == expected, terms
        assert truth.label == ("CLASH" if expected else "CLEAN")
        assert len(truth.evidence) == (2 if expected else 0)
        assert both_sides_said(draft.passages) == expected & {"secured_unsecured", "openend_closedend"}
        assert len(set(truth.evidence)) == len(truth.evidence)
        assert all(passage in text for passage in (*truth.evidence, truth.collateral or ""))
        assert all(side.name.casefold() in text.casefold() for side in (truth.borrower, truth.lender))


def test_passages_names_and_collateral_stand_in_the_text(corpus):
    truths, texts, _ = corpus
    for name, truth in truths.items():
        for passage in truth.evidence:
            assert " ".join(passage.split()) in texts[name], (name, passage)
        assert truth.borrower.name.casefold() in texts[name].casefold()
        assert truth.lender.name.casefold() in texts[name].casefold()
        assert truth.collateral is None or truth.collateral in texts[name]


def test_contradicting_passages_stand_apart(corpus):
    truths, texts, _ = corpus
    for name, truth in truths.items():
        if truth.evidence:
            first, second = sorted((texts[name].index(" ".join(p.split())), p) for p in truth.evidence)
            assert second[0] >= first[0] + len(" ".join(first[1].split())), (name, truth.evidence)


def test_no_special_provision_gives_a_clash_away(corpus):
    truths, texts, _ = corpus
    for name, truth in truths.items():
        for section in re.findall(r"Section 4: Special Provisions(.*?)Section 5", texts[name]):
            assert not any(" ".join(passage.split()) in section for passage in truth.evidence)


def test_wording_is_neutral(corpus):
    _, texts, _ = corpus
    for name, text in texts.items():
        assert not NOT_NEUTRAL.search(text), (name, NOT_NEUTRAL.search(text))


def test_plain_contracts_have_six_sections(corpus):
    _, texts, folder = corpus
    if folder.name.startswith("plain"):
        for text in texts.values():
            assert re.findall(r"Section (\d): ", text) == list("123456")


def test_answers_are_complete(corpus):
    truths, _, _ = corpus
    for truth in truths.values():
        answers = truth.reference_answers
        assert list(answers) == ["Q1", "Q2", "Q3", "Q4", "Q5"]
        assert truth.borrower.name in answers["Q2"] and truth.lender.name in answers["Q2"]
        assert truth.collateral is None or truth.collateral in answers["Q3"]
        if truth.credit_form != "contradictory":
            assert ("revolving" in answers["Q4"]) == (truth.credit_form == "open-end")
        assert f"{Decimal(str(truth.principal.amount)):,.2f}" in answers["Q5"]
        assert truth.interest_rate is None or truth.interest_rate in answers["Q5"]
        assert all(answer == " ".join(answer.split()) and answer.endswith(".") for answer in answers.values())
        if truth.clash_description:
            asked = {"secured_unsecured": "Q3", "openend_closedend": "Q4"}.get(truth.clash_type, "Q2")
            assert truth.clash_description in answers[asked] and truth.clash_description in answers["Q5"]


def test_names_differ_between_contracts(corpus):
    truths, _, _ = corpus
    names = [truth.borrower.name for truth in truths.values()]
    assert len(set(names)) == len(names)


def test_first_middle_and_last_record():
    first, middle, last = (sample(100, 42)[i] for i in (0, 49, 99))
    truths = [truth_of(t, compose(t, seed=42, wording="plain")) for t in (first, middle, last)]
    assert [t.label for t in truths] == ["CLEAN", "CLEAN", "CLASH"]
    golden = json.loads((Path(__file__).parents[1] / "data" / "contracts_golden.json").read_text("utf-8"))
    assert [json.loads(t.model_dump_json()) for t in truths] == golden


# --- variety


def test_every_phrasing_can_be_filled_and_is_neutral():
    known = _known_tokens()
    for voice in ("third", "you", "first", "rows", "parties", "plain", "answers"):
        for clause, texts in phrasings(voice).items():
            assert len({phrasing.text for phrasing in texts}) == len(texts), (voice, clause)
            for phrasing in texts:
                assert set(re.findall(r"\{(\w+)\}", phrasing.text)) <= known, phrasing.text
                assert not NOT_NEUTRAL.search(phrasing.text), phrasing.text


def _known_tokens() -> set[str]:
    speaker = Speaker(sample(1, 1)[0], lists()["registers"][0], Random(1))
    parties = {"name", "address", "style", "born", "id", "signatory", "office", "trade"}
    return set(speaker.values) | parties | {"kind", "borrower", "borrower_kind", "lender", "lender_kind"}


def test_central_clauses_have_many_phrasings():
    central = (
        "amount_closed",
        "amount_open",
        "rate_fixed",
        "closed_end",
        "open_end",
        "unsecured",
        "purpose_personal",
        "purpose_business",
    )
    for voice in ("third", "you"):
        for clause in central:
            assert len(phrasings(voice)[clause]) >= 8, (voice, clause)


def test_varied_contracts_use_every_register(corpus):
    _, texts, folder = corpus
    if folder.name.startswith("varied"):
        starts = {text[:25] for text in texts.values()}
        assert len(starts) > 40
        for mark in (
            "FOR VALUE|or value received|for value received|money received",
            "Dear ",
            "§ 1",
            "ARTICLE 1",
            "FIRST:",
            r"\?",
        ):
            assert any(re.search(mark, text) for text in texts.values()), mark


# --- files


def test_same_arguments_same_bytes_whatever_the_hash_seed(tmp_path):
    for wording in WORDINGS:
        here = tmp_path / wording
        generate(here, here / "truth.json", count=24, seed=7, wording=wording)
        there = tmp_path / f"{wording}-again"
        code = (
            "from pathlib import Path; from ovrag_core.loans import generate; "
            f"p = Path({str(there)!r}); generate(p, p / 'truth.json', count=24, seed=7, wording={wording!r})"
        )
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONHASHSEED": "12345"})
        names = sorted(path.name for path in here.iterdir())
        assert names == sorted(path.name for path in there.iterdir()) and len(names) == 25
        for name in names:
            assert (here / name).read_bytes() == (there / name).read_bytes(), name


def test_stale_contracts_are_removed_and_other_files_kept(tmp_path):
    (tmp_path / "mine.pdf").write_bytes(b"%PDF-")
    generate(tmp_path, tmp_path / "truth.json", count=5, seed=1, wording="plain")
    generate(tmp_path, tmp_path / "truth.json", count=3, seed=1, wording="plain")
    assert sorted(path.name for path in tmp_path.glob("*.pdf")) == [
        "Contract_001.pdf",
        "Contract_002.pdf",
        "Contract_003.pdf",
        "mine.pdf",
    ]


def test_letters_beyond_latin_1_are_extracted_as_written(tmp_path):
    draft = Draft()
    draft.add("text", "Şebnem Yıldırım, Łukasz Źrebiec, Đặng Minh, Γεώργιος Παπάς, Ольга Петренко")
    write_pdf(draft, tmp_path / "names.pdf", title="names")
    assert "Şebnem Yıldırım, Łukasz Źrebiec, Đặng Minh, Γεώργιος Παπάς, Ольга Петренко" in text_of(
        tmp_path / "names.pdf"
    )


def test_a_long_contract_has_several_pages_and_no_divided_passage(corpus):
    _, _, folder = corpus
    if folder.name.startswith("varied"):
        assert max(len(PdfReader(path).pages) for path in folder.glob("*.pdf")) >= 2


# --- ground truth files


def test_truth_can_be_read_back(corpus):
    truths, _, folder = corpus
    assert load_truth(folder / "truth.json") == truths


def test_own_ground_truth_may_be_small(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"lease": {"label": "CLEAN", "my_note": "any"}}')
    assert load_truth(path)["lease"].label == "CLEAN"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[1, 2]", "must be an object"),
        ('{"a": {"label": "MAYBE"}}', r"a\.label"),
        ('{"a": {}}', r"a\.label: field required"),
        ('{"a": ', "not valid JSON at line 1"),
        ("\udcff", "is not UTF-8"),
    ],
)
def test_bad_ground_truth_is_one_clear_sentence(tmp_path, text, sentence):
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CorpusError, match=sentence) as caught:
        load_truth(path)
    assert "bad.json" in str(caught.value) and "\n" not in str(caught.value)


def test_missing_ground_truth_names_the_file(tmp_path):
    with pytest.raises(CorpusError, match=r"none\.json does not exist"):
        load_truth(tmp_path / "none.json")


def test_a_folder_that_cannot_be_written_is_one_clear_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CorpusError, match="cannot be written"):
        generate(tmp_path / "file", tmp_path / "truth.json", count=1, seed=1, wording="plain")


def test_passages_are_marked_across_line_breaks_and_text_is_escaped():
    shown = highlighted("1 < 2. The loan\nis “unsecured” & free.", ["The loan is “unsecured” & free."])
    assert "1 &lt; 2. <mark>The loan\nis “unsecured” &amp; free.</mark>" in shown
