"""A page on which a rater goes through a blind pack; what was rated is kept at once, and found again later."""

import html
from pathlib import Path

import ipywidgets as widgets
from pydantic import ValidationError

from ovrag_core.base import OvragError
from ovrag_studies.cited import showing
from ovrag_studies.cited.measuring.ratings import (
    SCALES,
    RatedItem,
    Rating,
    add_rating,
    order_for,
    read_pack,
    read_ratings,
)


class RatingPage:
    """One rater, one answer at a time; neither arm nor query is shown."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.pack = folder, read_pack(folder)
        self.items: list[RatedItem] = []
        self.at = 0
        wide = widgets.Layout(width="290px")
        self.rater = widgets.Text(placeholder="your name", layout=wide)
        self.begin = widgets.Button(description="Begin", button_style="primary", layout=wide)
        self.shown = widgets.HTML()
        self.supported = widgets.BoundedIntText(value=0, min=0, max=99, layout=wide)
        self.claims = widgets.BoundedIntText(value=1, min=1, max=99, layout=wide)
        self.citations = _scale(0, 2)
        self.clarity, self.actionability = _scale(1, 5), _scale(1, 5)
        self.note = widgets.Textarea(placeholder="note", layout=wide)
        self.save = widgets.Button(description="Save and go on", button_style="primary", disabled=True, layout=wide)
        self.back = widgets.Button(description="Back", disabled=True, layout=wide)
        self.status = widgets.HTML(showing.message(f"{len(self.pack.items)} answers. Give your name to begin."))
        for widget, name in ((self.begin, "begin"), (self.save, "save"), (self.status, "rated")):
            widget.add_class(f"ovp-{name}")
        self.begin.on_click(lambda _: self.start())
        self.save.on_click(lambda _: self.keep())
        self.back.on_click(lambda _: self.show(self.at - 1))
        form = [
            _labelled("Rater", self.rater, self.begin),
            _labelled(SCALES["G1"], self.supported),
            _labelled("Claims in all", self.claims),
            _labelled(SCALES["G2"], self.citations),
            _labelled(SCALES["U1"], self.clarity),
            _labelled(SCALES["U2"], self.actionability),
            _labelled("Note", self.note, self.save, self.back),
            self.status,
        ]
        self.widget = widgets.VBox([widgets.HTML(showing.style()), widgets.HBox([widgets.VBox(form), self.shown])])

    def start(self) -> None:
        """Show the first answer that this rater has not rated."""
        name = self.rater.value.strip()
        try:
            done = read_ratings(self.folder, self.pack).get(name, {})
        except OvragError as error:
            self.status.value = showing.message(str(error), "bad")
            return
        if not name:
            self.status.value = showing.message("Give your name first; ratings are kept under it.", "bad")
            return
        self.items = order_for(name, self.pack)
        self.rater.disabled = self.begin.disabled = True
        unrated = (position for position, item in enumerate(self.items) if item.name not in done)
        self.show(next(unrated, len(self.items)))

    def show(self, at: int) -> None:
        """Show the answer at a place of the rater's order, with empty scales."""
        self.at = max(0, at)
        over = self.at >= len(self.items)
        self.save.disabled, self.back.disabled = over, self.at == 0
        if over:
            self.shown.value = ""
            self.status.value = showing.message(f"All {len(self.items)} answers are rated. Thank you.", "good")
            return
        item = self.items[self.at]
        self.shown.value = answer_html(item)
        self.claims.value = max(1, len(item.sentences))
        self.supported.value, self.note.value = 0, ""
        # Nothing is chosen beforehand, so that nobody agrees by not looking.
        for scale in (self.citations, self.clarity, self.actionability):
            scale.value = None
        self.status.value = showing.message(f"Answer {self.at + 1} of {len(self.items)}.")

    def keep(self) -> None:
        """Keep the rating and show the next answer, or say what is missing."""
        citations, clarity, actionability = self.citations.value, self.clarity.value, self.actionability.value
        if None in (citations, clarity, actionability):
            self.status.value = showing.message("Choose a value on every scale.", "bad")
            return
        try:
            rating = Rating(
                pack=self.pack.digest,
                item=self.items[self.at].name,
                rater=self.rater.value.strip(),
                g0=self.supported.value < self.claims.value,
                supported=self.supported.value,
                claims=self.claims.value,
                g2=citations,
                u1=clarity,
                u2=actionability,
                note=self.note.value,
            )
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"]
            self.status.value = showing.message(f"The rating was not kept: {problem}.", "bad")
            return
        add_rating(self.folder, rating)
        self.show(self.at + 1)


def answer_html(item: RatedItem) -> str:
    """A question and its answer with the quotations. All of it is untrusted and escaped."""
    blocks = [f"<h2>{html.escape(item.question)}</h2>"]
    for number, claim in enumerate(item.sentences, start=1):
        blocks.append(f'<p class="answer">{number}. {html.escape(claim.text)}</p>')
        blocks += [
            f"<blockquote>{html.escape(c.quote)} <span class='soft'>{html.escape(c.doc_id)}</span></blockquote>"
            for c in claim.citations
        ]
    return f'<div class="ovp">{"".join(blocks)}</div>'


def _scale(low: int, high: int) -> widgets.ToggleButtons:
    options = [(str(value), value) for value in range(low, high + 1)]
    return widgets.ToggleButtons(options=options, value=None, style={"button_width": "44px"})


def _labelled(text: str, *parts: widgets.Widget) -> widgets.VBox:
    return widgets.VBox([widgets.HTML(f'<div class="ovp"><strong>{html.escape(text)}</strong></div>'), *parts])
