"""Plain text, decoded and otherwise unaltered: offsets count characters of the file itself."""

import codecs

from ovrag_core.base import DocumentError

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def read(name: str, data: bytes) -> str:
    """The text of a plain-text file, without newline translation.

    A byte-order mark decides the encoding and stays in the text as its first character, so that offsets agree with
    `data.decode("utf-8")`. Without one it is UTF-8, or else Windows-1252, in which the five bytes that it leaves
    undefined stand for themselves. Raises DocumentError where a marked encoding is broken.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                raise DocumentError(f"{name} is not valid {encoding.upper()}; save it as UTF-8 and try again") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        # WHATWG's windows-1252: every byte maps to one character, so offsets stay those of the bytes.
        return data.decode("cp1252", errors="ovrag_latin1")


def _latin1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("ovrag_latin1", _latin1)
