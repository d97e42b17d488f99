"""One module per command: its docstring is its help; `add_arguments` and `execute` do the rest (see `slipway.cli`)."""
