"""Services outside with which a campaign deals: Prolific, and whom it tells its news."""
