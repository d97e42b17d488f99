"""From rendered outputs to packages that are proved and published."""
