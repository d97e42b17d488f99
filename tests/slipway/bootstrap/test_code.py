"""Code that decides what a package holds is part of the package's key."""

from __future__ import annotations

import ast

from slipway.bootstrap.code import code_files


def test_the_key_covers_all_code_that_is_imported() -> None:
    found = code_files()
    assert {"bootstrap.assemble", "bootstrap.sources", "bootstrap.mapping", "channel.package_writer"} <= found.keys()
    for path in found.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith(
                ("slipway.bootstrap", "slipway.channel")
            ):
                module = str(node.module).removeprefix("slipway.")
                modules = [module] if "." in module else [f"{module}.{alias.name}" for alias in node.names]
                assert set(modules) <= found.keys(), f"{path} imports {modules}"
