"""What a campaign file and its task file may say, and what is wrong with one that says something else."""
