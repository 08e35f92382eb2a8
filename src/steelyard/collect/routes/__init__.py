"""The pages and the API: joining, working, administration."""
