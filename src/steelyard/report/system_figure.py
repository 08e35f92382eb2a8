"""The first figure of the page: all systems with their intervals, the best on top."""

from matplotlib.figure import Figure

from steelyard.plots.style import WIDTH, styled
from steelyard.questions.plots import plot_estimates, plot_strengths
from steelyard.questions.preferences import PreferenceComparison
from steelyard.report.findings import PromptFindings
from steelyard.report.svg import inline_svg

__all__ = ["system_figure"]

# More systems than this stand closer together.
_MANY = 8


def system_figure(findings: PromptFindings, *, name: str) -> str | None:
    """Return mean human scores, or strengths where people were asked for preferences; None if there are none.

    Parameters
    ----------
    findings : PromptFindings
        What was found under a prompt.
    name : str
        Prefix of all ids inside.
    """
    found = [one.estimate for one in findings.systems if one.estimate is not None]
    compared = None if findings.answer is None else findings.answer.comparison
    strengths = compared.strengths if isinstance(compared, PreferenceComparison) else ()
    rows = len(found) or len(strengths)
    if not rows:
        return None
    with styled():
        size = (WIDTH, 1.15 + (0.42 if rows <= _MANY else 0.235) * rows)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        if found:
            plot_estimates(found, axes)
        elif isinstance(compared, PreferenceComparison):
            plot_strengths([compared], axes)
    what = "Mean human score" if found else "Strength"
    label = f"{what} of each system under the prompt {findings.prompt}, with intervals"
    return inline_svg(figure, name=name, label=label)
