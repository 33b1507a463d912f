from .origins import provenance as provenance
from .origins import provenance_text as provenance_text
from .readme import FIGURE as FIGURE
from .readme import refreshed as refreshed
from .readme import results_macros as results_macros
from .result_page import page as page
from .stages import Stage as Stage
from .stages import read_stages as read_stages
