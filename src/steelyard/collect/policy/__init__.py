"""The rules of a campaign: each is decided in one file here, and asked for by all others."""
