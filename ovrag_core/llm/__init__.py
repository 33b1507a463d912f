"""Language models: messages in, text and usage out, recorded once and replayed for ever. Nothing about any task.

`connect` gives a chat model and an embedder as the settings ask, `open_chat` the first alone, None offline; `tally`
counts what a part of the work used.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
