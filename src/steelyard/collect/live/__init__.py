"""The campaign as it stands, for whoever runs it: computed while somebody looks, and shared."""
