"""Every error that a user can meet. Each message names the file or field and says what to do."""


class OvragError(Exception):
    """Base of all errors that are reported as one sentence, never as a traceback."""


class SettingsError(OvragError):
    """A parameter file that cannot be used as it is."""


class DocumentError(OvragError):
    """A document that cannot be read: encrypted, empty, truncated, scanned, or not what its suffix says."""


class OntologyError(OvragError):
    """An ontology, shape or rule file that cannot be loaded, or that is itself inconsistent."""


class ReasonerError(OvragError):
    """The reasoner could not be started or did not finish; the check is `unchecked`, never a pass."""


class TripleError(OvragError):
    """A file of triples that does not have the five fields."""


class RunError(OvragError):
    """A run file that is broken, belongs to other parameters, or does not exist."""


class QuestionError(OvragError):
    """A list of questions that cannot be used."""


class CorpusError(OvragError):
    """A corpus that cannot be generated or found as asked."""


class NotebookError(OvragError):
    """A notebook that cannot be read, or that stopped in one of its cells."""
