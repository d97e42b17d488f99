"""What every room stands on: errors, programs, paths, files, events, text. No word of the domain."""
