"""Folds keep contracts of one filer together and do not depend on the order of the titles."""

from ovrag_studies.contract_review.texts.folds import fold_of


def test_contracts_of_one_filer_share_a_fold() -> None:
    folds = fold_of(["ACME INC_2019_lease", "AcmeInc_2020_supply", "Brook Ltd. - Hosting", "Cove", "Dell_1", "Elm_1"])
    assert folds["ACME INC_2019_lease"] == folds["AcmeInc_2020_supply"]
    assert sorted(set(folds.values())) == [0, 1, 2, 3, 4]


def test_the_order_and_repetition_of_titles_change_nothing() -> None:
    titles = [f"Filer {letter}_contract" for letter in "qwertyuiop"]
    assert fold_of(titles) == fold_of(reversed([*titles, titles[0]]))


def test_a_title_without_letters_is_its_own_filer() -> None:
    assert len(set(fold_of(["_1", "_2"]).values())) == 2
