"""Say what an error's code means, and what to do.

Errors and warnings print their code in brackets: `error[missing-package]`. Without CODE all pages are printed, which is
what docs/errors.md holds.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from slipway.base.error_pages import read_pages
from slipway.base.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter

HEAD = """\
# Errors by their codes

What `slipway explain CODE` says; `slipway explain > docs/errors.md` writes this page.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("code", nargs="?", metavar="CODE", help="as in `error[CODE]` (default: all of them)")
    parser.add_argument("--json", action="store_true", help="the pages as JSON, by code")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print; returns the exit code."""
    pages = read_pages()
    code: str | None = arguments.code
    if code is not None and code not in pages:
        close = difflib.get_close_matches(code, pages, n=1)
        hint = f"did you mean `{close[0]}`?" if close else "`slipway explain` lists all of them"
        raise UsageError(f"no error has the code `{code}`", hint=hint)
    wanted = {code: pages[code]} if code is not None else pages
    if arguments.json:
        print(json.dumps({name: asdict(page) for name, page in wanted.items()}, indent=1))
        return 0
    texts = [page.to_markdown(name) for name, page in wanted.items()]
    print("\n".join([HEAD, *texts] if code is None else texts), end="")
    return 0
