"""The package and its metadata are there, and the entry point starts what Python starts."""

import contextlib
import importlib.metadata
import io
import subprocess

from pure.cli import main

printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    main()
assert printed.getvalue() == "hello, world\n", printed.getvalue()
assert importlib.metadata.version("pure") == "1.4"
program = subprocess.run(["pure"], capture_output=True, text=True, check=True)
assert program.stdout == printed.getvalue(), program.stdout
print("pure works")
