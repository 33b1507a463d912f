"""A page on which a rater goes through a blind pack; what was rated is kept at once, and found again later."""

import html
from pathlib import Path

import ipywidgets as widgets
from pydantic import ValidationError

from ovrag_studies.cited.measuring.ratings import RatedItem, Rating, add_rating, read_pack, read_ratings


class RatingPage:
    """One rater, one answer at a time; neither arm nor query is shown."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.pack = folder, read_pack(folder)
        self.at = 0
        self.rater = widgets.Text(placeholder="your name")
        self.begin = widgets.Button(description="Begin")
        self.shown = widgets.HTML()
        self.save = widgets.Button(description="Save and go on", disabled=True)
        self.status = widgets.HTML(f"{len(self.pack.items)} answers. Give your name to begin.")
        self.begin.on_click(lambda _: self.start())
        self.save.on_click(lambda _: self.keep())
        counts = {"supported": 0, "claims": 1}
        self.counts = {name: widgets.BoundedIntText(value=value, min=0, max=99) for name, value in counts.items()}
        self.scales = {"g2": _scale(0, 2), "u1": _scale(1, 5), "u2": _scale(1, 5)}
        questions = (
            "G1: of the claims of the answer, how many do the quotations bear out?",
            "Claims in all",
            "G2: citations, 0 wrong or missing, 1 in part, 2 each at the right place",
            "U1: clarity, from 1 (unintelligible) to 5 (clear at the first reading)",
            "U2: actionability, from 1 (of no use) to 5 (I know what to do)",
        )
        form = [("Rater", self.rater), ("", self.begin)]
        form += zip(questions, (*self.counts.values(), *self.scales.values()), strict=True)
        rows = [part for text, widget in form for part in (widgets.Label(text), widget)]
        self.widget = widgets.HBox([widgets.VBox([*rows, self.save, self.status]), self.shown])

    def start(self) -> None:
        """Show the first answer that this rater has not rated."""
        if not (name := self.rater.value.strip()):
            self.status.value = "Give your name first; ratings are kept under it."
            return
        done = read_ratings(self.folder, self.pack).get(name, {})
        self.rater.disabled = self.begin.disabled = True
        unrated = (position for position, item in enumerate(self.pack.items) if item.name not in done)
        self.show(next(unrated, len(self.pack.items)))

    def show(self, at: int) -> None:
        """Show the answer at a place of the pack, with empty scales."""
        self.at, count = at, len(self.pack.items)
        self.save.disabled = at >= count
        if self.save.disabled:
            self.shown.value, self.status.value = "", f"All {count} answers are rated. Thank you."
            return
        item = self.pack.items[at]
        self.shown.value = answer_html(item)
        self.counts["claims"].value, self.counts["supported"].value = max(1, len(item.sentences)), 0
        # Nothing is chosen beforehand, so that nobody agrees by not looking.
        for scale in self.scales.values():
            scale.value = None
        self.status.value = f"Answer {at + 1} of {count}."

    def keep(self) -> None:
        """Keep the rating and show the next answer, or say what is missing."""
        values = {name: widget.value for name, widget in (self.counts | self.scales).items()}
        if None in values.values():
            self.status.value = "Choose a value on every scale."
            return
        item, rater = self.pack.items[self.at].name, self.rater.value.strip()
        try:
            rating = Rating(pack=self.pack.digest, item=item, rater=rater, **values)
        except ValidationError as error:
            self.status.value = f"The rating was not kept: {error.errors(include_url=False)[0]['msg']}."
            return
        add_rating(self.folder, rating)
        self.show(self.at + 1)


def answer_html(item: RatedItem) -> str:
    """A question and its answer with the quotations. All of it is untrusted and escaped."""
    blocks = [f"<h3>{html.escape(item.question)}</h3>"]
    for number, claim in enumerate(item.sentences, start=1):
        blocks.append(f"<p>{number}. {html.escape(claim.text)}</p>")
        blocks += [
            f"<blockquote>{html.escape(c.quote)} <em>{html.escape(c.doc_id)}</em></blockquote>" for c in claim.citations
        ]
    return "".join(blocks)


def _scale(low: int, high: int) -> widgets.ToggleButtons:
    options = [(str(value), value) for value in range(low, high + 1)]
    return widgets.ToggleButtons(options=options, value=None, style={"button_width": "44px"})
