"""Effects asked for in a graph that the text draws: how they follow from observations, or which path blocks them."""

import pytest

from ovrag_studies.causal.questions.question_files import split


@pytest.mark.parametrize(
    ("text", "method", "by"),
    [
        ("z -> x, z -> y, x -> y. What is the effect of x on y?", "back-door", ["z"]),
        ("x -> m -> y; x <-> y. Effect of x on y?", "front-door", ["m"]),
        ("x→y. Effect of X on y?", "back-door", []),
        ("Smoking -> tar -> cancer; smoking <- genes -> cancer. Genes is hidden.\nEffect of smoking on cancer?",
         "front-door", ["tar"]),
        ("w -> r -> x -> y, w <-> x, w <-> y. Can the effect of x on y be identified?", "ID", []),
        ("x -> m -> y, x -> y. What is the direct effect of x on y?", "mediation", []),
        ("x -> y. Effect of y on x?", "none", []),
    ],
)  # fmt: skip
def test_an_effect_that_is_identified_has_its_estimand(text: str, method: str, by: list[str]) -> None:
    solved = split(text)
    assert (solved.status, solved.record["method"], solved.record["by"]) == ("identified", method, by)


@pytest.mark.parametrize(
    ("text", "path", "assumption"),
    [
        ("x -> y, u -> x, u -> y; u is unobserved. Effect of x on y?", "x ← u → y", "u does not act on both x and y"),
        ("x -> y, x <-> y. Effect of x on y?", "x ← U(x, y) → y", "U(x, y) does not act on both"),
        ("z -> x -> y, x <-> y. Effect of x on y?", "x ← U(x, y) → y", "linearity"),
        ("x -> m -> y, x -> y, m <-> y. Indirect effect of x on y via m?", "m ← U(m, y) → y", "beside x"),
    ],
)
def test_an_effect_that_is_not_says_which_path_blocks_and_what_would_suffice(text, path, assumption) -> None:
    solved = split(text)
    assert (solved.status, solved.record["path"]) == ("not identified", path)
    assert path in solved.reason and assumption in solved.reason


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x -> y, y -> z, z -> x. Effect of x on z?", "the cycle x → y → z → x"),
        ("x -> y. Effect of x on q?", "“q” is not in the causal graph"),
        ("x -> y, v is hidden. Effect of x on y?", "“v” is called unobserved"),
        ("x -> y, u -> y; x is hidden. Effect of x on y?", "“x” is unobserved"),
        ("x -> . Effect of x on y?", "leads from or to nothing"),
        ("x -> y. Why?", "asks for no effect"),
        ("x -> y, it rains. Effect of x on y?", "“it rains” is no edge"),
        ("x -> y", "full stop"),
        (", ".join(f"x -> m{number}" for number in range(20)) + ". Effect of x on m1?", "at most 14"),
    ],
)
def test_what_is_wrong_with_a_drawn_graph_is_said(text: str, told: str) -> None:
    solved = split(text)
    assert solved.status == "unread"
    assert told in solved.reason
