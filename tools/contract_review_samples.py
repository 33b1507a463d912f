"""Make the samples of the contract-review study from their marked sources, in the formats of CUAD and ContractNLI.

A contract's source is a YAML head, a line `---`, and its text, in which `[[nc excl|No other supplier ...]]` marks a
passage with the codes of its categories (`categories.yaml`). Marks may stand in one another; the text is what remains
without them. The head holds `kind`, `newline` (`lf` or `crlf`), and `normalized`, CUAD's unified answers by code.

An agreement's source has a head with `id`, `entailment` and `contradiction`, the numbers of the hypotheses so judged,
and a text of one candidate span a line. `+ ` before a line joins it to the one before it by a blank; `[[3 5]] ` in it
says of which hypotheses it is evidence.

Run from the project's folder: `python tools/contract_review_samples.py [FOLDER]`.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

SAMPLES = Path("data/samples/contract_review")
NEWLINES = {"lf": "\n", "crlf": "\r\n"}
VERSION = "invented contracts in the format of CUAD v1"
# Asked of a date, a name or a state, where every other category is answered by yes or no.
NAMED = (
    "Document Name",
    "Parties",
    "Agreement Date",
    "Effective Date",
    "Expiration Date",
    "Renewal Term",
    "Notice Period to Terminate Renewal",
    "Governing Law",
)
MARK = re.compile(r"\[\[(?P<codes>[a-z][a-z ]*)\||\]\]")
EVIDENCE = re.compile(r"\[\[([\d ]+)\]\] ")


class Marked(NamedTuple):
    """A passage `[start, end)` of a text and the code of its category."""

    start: int
    end: int
    code: str


def unmark(marked: str) -> tuple[str, list[Marked]]:
    """The text without its marks, and the marked passages in order. Ends the script where a mark does not close."""
    text, last = "", 0
    opened: list[tuple[int, list[str]]] = []
    passages: list[Marked] = []
    for mark in MARK.finditer(marked):
        text += marked[last : mark.start()]
        last = mark.end()
        if mark["codes"]:
            opened.append((len(text), mark["codes"].split()))
        elif opened:
            start, codes = opened.pop()
            passages += [Marked(start, len(text), code) for code in codes]
        else:
            sys.exit(f"a mark closes that was not opened, after: {text[-60:]!r}")
    if opened:
        sys.exit(f"a mark is not closed, at: {text[opened[-1][0] :][:60]!r}")
    return text + marked[last:], sorted(passages)


def read_source(path: Path) -> tuple[dict[str, Any], str]:
    """The head and the body of a source."""
    head, _, body = path.read_text(encoding="utf-8").partition("\n---\n")
    return yaml.safe_load(head), body


def contract(path: Path, categories: list[dict[str, str]]) -> tuple[dict[str, Any], str]:
    """An entry of `questions.json` for the source at `path`, and its text."""
    head, body = read_source(path)
    text, passages = unmark(body.replace("\n", NEWLINES[head["newline"]]))
    if unknown := {passage.code for passage in passages} - {each["code"] for each in categories}:
        sys.exit(f"{path} marks {sorted(unknown)}, which is no category's code")
    if unmarked := set(head["normalized"]) - {passage.code for passage in passages}:
        sys.exit(f"{path} has a unified answer for {sorted(unmarked)}, which nothing in its text is marked with")
    title = path.stem.replace("_", " ")
    asked = []
    for each in categories:
        answers = [
            {"text": text[start:end], "answer_start": start} for start, end, code in passages if code == each["code"]
        ]
        asked.append(
            {
                "id": f"{title}__{each['category']}",
                "category": each["category"],
                "answers": answers,
                "is_impossible": not answers,
                "normalized_answer": normalized(each, answers, head["normalized"]),
            }
        )
    file = f"texts/{path.stem}.txt"
    return {"title": title, "text_file": file, "kind": head["kind"], "characters": len(text), "qas": asked}, text


def normalized(category: dict[str, str], answers: list[dict[str, Any]], given: dict[str, str]) -> str:
    """The unified answer: what the head says, the marked name, or yes or no."""
    if category["category"] not in NAMED:
        return "Yes" if answers else "No"
    if not answers or category["code"] in given:
        return given.get(category["code"], "")
    return "; ".join(answer["text"] for answer in answers)


def agreement(path: Path, hypotheses: dict[str, Any]) -> dict[str, Any]:
    """A document of ContractNLI for the source at `path`."""
    head, body = read_source(path)
    judged = dict.fromkeys(head["entailment"], "Entailment")
    judged |= dict.fromkeys(head["contradiction"], "Contradiction")
    text, spans, evidence = lay_out(body)
    if set(evidence) != set(judged) or not set(judged) <= {int(name[4:]) for name in hypotheses}:
        sys.exit(f"{path} judges {sorted(judged)} and has evidence of {sorted(evidence)}")
    return {
        "id": head["id"],
        "file_name": f"{path.stem}.txt",
        "text": text,
        "spans": spans,
        "annotation_sets": [
            {
                "annotations": {
                    name: {
                        "choice": judged.get(int(name[4:]), "NotMentioned"),
                        "spans": evidence.get(int(name[4:]), []),
                    }
                    for name in hypotheses
                }
            }
        ],
        "document_type": "invented",
        "url": "",
    }


def lay_out(body: str) -> tuple[str, list[tuple[int, int]], dict[int, list[int]]]:
    """The text of a body, its candidate spans, and the indices of the evidence by number of hypothesis."""
    text = ""
    spans: list[tuple[int, int]] = []
    evidence: dict[int, list[int]] = {}
    for line in body.rstrip("\n").split("\n"):
        if line.startswith("+ "):
            # A span reaches up to the next of its paragraph, as ContractNLI's do.
            text += " "
            spans[-1] = (spans[-1][0], len(text))
        elif text:
            text += "\n"
        content = line.removeprefix("+ ")
        if mark := EVIDENCE.search(content):
            content = EVIDENCE.sub("", content)
            for number in mark[1].split():
                evidence.setdefault(int(number), []).append(len(spans))
        if content:
            spans.append((len(text), len(text) + len(content)))
            text += content
    return text, spans, evidence


def files(source: Path) -> Iterator[tuple[Path, str]]:
    """Every file that is made from the sources, by its path below the folder of samples, with its text."""
    categories = yaml.safe_load((source / "categories.yaml").read_text(encoding="utf-8"))
    read = [contract(path, categories) for path in sorted((source / "cuad").glob("*.txt"))]
    listed = [{name: each[name] for name in ("category", "description", "question")} for each in categories]
    yield Path("cuad/categories.json"), json.dumps(listed, ensure_ascii=False, indent=1) + "\n"
    questions = {"version": VERSION, "data": [entry for entry, _ in read]}
    yield Path("cuad/questions.json"), json.dumps(questions, ensure_ascii=False, indent=1) + "\n"
    for entry, text in read:
        yield Path("cuad") / entry["text_file"], text
    hypotheses = yaml.safe_load((source / "hypotheses.yaml").read_text(encoding="utf-8"))
    documents = [agreement(path, hypotheses) for path in sorted((source / "contractnli").glob("*.txt"))]
    dev = {"documents": documents, "labels": hypotheses}
    yield Path("contractnli/dev.json"), json.dumps(dev, ensure_ascii=False, separators=(",", ":")) + "\n"


def main() -> None:
    """Write the samples."""
    samples = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    for path, text in files(SAMPLES / "source"):
        (samples / path).parent.mkdir(parents=True, exist_ok=True)
        (samples / path).write_bytes(text.encode())


if __name__ == "__main__":
    main()
