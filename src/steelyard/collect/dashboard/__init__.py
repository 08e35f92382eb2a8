"""What whoever runs a campaign sees."""
