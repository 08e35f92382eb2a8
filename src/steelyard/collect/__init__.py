"""Collecting judgments: people rate in a browser, and the estimate tightens as they do."""
