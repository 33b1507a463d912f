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


class GraphError(OvragError):
    """A graph store that cannot be opened, reached or read."""


class CardError(OvragError):
    """A file of cards that cannot be used, or cards that cannot be made as asked."""


class DomainError(OvragError):
    """A file that says what is true of a domain, or its shapes, that cannot be used."""


class Unchecked(GraphError):
    """A question to a graph that got no answer: it failed, took too long or came back as something else. Never a no."""


class CausalError(OvragError):
    """A causal graph, model or question that cannot be used as it is."""


class CycleError(CausalError):
    """A causal graph that returns to where it set out; the message names the cycle."""


class ProbabilityError(CausalError):
    """A number that is no probability, or probabilities of one distribution that do not add up to 1."""


class StrataError(CausalError):
    """Probabilities by stratum of which one is missing, printed twice, or for strata that read alike."""


class ImpossibleEvidenceError(CausalError):
    """Evidence of probability 0: nothing follows from it."""


class UnreadError(CausalError):
    """A text that is not in the language that the reader knows; the message quotes what it stopped at."""


class ResultError(OvragError):
    """A result that is missing, unknown, stale or edited by hand, or that cannot be brought into LaTeX."""


class ModelError(OvragError):
    """A model call that gave no usable reply; the query is marked with it and is never a pass."""


class ModelSetupError(ModelError):
    """No call can succeed as things are set up: no key, a wrong one, an unknown model, a wrong address."""


class UnreachableError(ModelError):
    """The server did not answer, or cut the connection, at every attempt."""


class NeverReachedError(ModelSetupError, UnreachableError):
    """The server has not answered once, so that no other call is going to do better."""


class TimeLimitError(ModelError):
    """No reply within the time limit."""


class RateLimitError(ModelError):
    """The server still refused for too many requests, or for lack of credit, after every retry."""


class ServerError(ModelError):
    """The server answered with an error."""


class RefusalError(ModelError):
    """The model, or a filter before it, declined to answer."""


class EmptyReplyError(ModelError):
    """A reply without text."""


class TruncatedReplyError(ModelError):
    """A reply that ended at the token limit."""


class MalformedReplyError(ModelError):
    """A reply that is not what was asked for: no JSON, or no reply of an OpenAI-compatible server."""


class SchemaReplyError(ModelError):
    """A JSON reply without the fields that were asked for."""


class ReplayMissError(ModelError):
    """A request that has no recorded reply."""


class StoreError(OvragError):
    """A store of recorded replies that cannot be read or extended; a run stops at it."""


class PriceError(OvragError):
    """A price file that cannot be used, or that lacks the model."""


class BudgetError(OvragError):
    """The next call could exceed the budget; a run stops before it."""
