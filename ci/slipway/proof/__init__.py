"""What proves a package to people elsewhere: what is in it, what it was made from, and who says so."""
