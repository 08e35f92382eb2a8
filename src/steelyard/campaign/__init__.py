"""What was collected, as numbers: judgments, pools, draws and texts become one `Campaign` for each prompt."""
