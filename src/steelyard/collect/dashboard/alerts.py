"""What whoever runs a campaign must act upon at once: judgments are lost to raters until they do."""

import shutil
from pathlib import Path

from steelyard.collect.config.campaign import Campaign

__all__ = ["alerts"]

_LEAST_FREE_BYTES = 500_000_000


def alerts(campaign: Campaign, *, failure: str | None = None) -> list[str]:
    """Return what is wrong with the place where judgments are kept.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    failure : str, optional
        Why the last write failed, if it did.
    """
    found = []
    if failure is not None:
        found.append(
            f"Judgments cannot be stored: {failure}. Raters keep their answers in the browser, which sends "
            "them again by itself. Make room or bring the database back; nothing else is needed."
        )
    return found + _of_the_disk(campaign)


def _of_the_disk(campaign: Campaign) -> list[str]:
    """Warn while there is still time: what raters submit to a full disk is refused."""
    if "://" in campaign.database:
        return []
    free = shutil.disk_usage(Path(campaign.database).parent).free
    if free >= _LEAST_FREE_BYTES:
        return []
    left = f"{free // 1_000_000:,} MB are left"
    way_out = "Make room now, or judgments will be refused until there is some."
    return [f"The disk of the database is nearly full: {left}. {way_out}"]
