"""What a build costs, measured while it runs and kept for the next: seconds, memory, steps."""
