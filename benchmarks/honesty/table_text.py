"""Tables and figures as the text of the page."""


def table(head, body):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])


def percent(value, error=None):
    doubt = "" if error is None else f" ± {100 * error:.1f}"
    return f"{100 * value:.1f}{doubt}"
