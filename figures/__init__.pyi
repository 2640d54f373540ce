from typing import Any

from figures.data import Records as Records
from figures.data import records_of as records_of
from figures.errors import FiguresError as FiguresError
from figures.names import name as name
from figures.page.build import build as build
from figures.page.export import markdown as markdown
from figures.paper.tables import paper_tables as paper_tables
from figures.plots.aggregates import plot_aggregates as plot_aggregates
from figures.plots.agreement import plot_agreement as plot_agreement
from figures.plots.causes import plot_causes as plot_causes
from figures.plots.citing import plot_citing as plot_citing
from figures.plots.critics import plot_critics as plot_critics
from figures.plots.curves import plot_curves as plot_curves
from figures.plots.edits import plot_edits as plot_edits
from figures.plots.noise import plot_noise as plot_noise
from figures.plots.patterns import plot_patterns as plot_patterns
from figures.plots.profiles import plot_profiles as plot_profiles
from figures.plots.remedies import plot_remedies as plot_remedies
from figures.plots.revisions import plot_revisions as plot_revisions
from figures.plots.salience import plot_salience as plot_salience
from figures.plots.stability import plot_stability as plot_stability
from figures.plots.tau import plot_tau as plot_tau
from figures.provenance import origin as origin

# A plot that is not listed is one of any type: a new figure needs no line here.
def __getattr__(name: str) -> Any: ...
