"""slipway: renders a conda recipe's matrix, builds what changed, proves it, and ships it as a channel.

The spine is a chain of frozen types, each made from the one before it and never changed:

    Recipe (as written) -> Variant -> RenderedOutput -> Plan -> Artifact -> Finding -> Channel

A room is a folder or a file of this one, and has a floor. Imports go down, and stand on top of a file. Rooms of one
floor do not know each other, but where a `<` says which of them stands on which.

    1  base                                what knows nothing of packages: errors, programs, files, events, text
    2  model                               the frozen types of the spine
    3  recipe, channel, source, observe    text in, outputs out; packages and channels; sources; what builds did
    4  engines, verify, bootstrap          an output in, an artifact out; judgement; the embedded channel
    5  report, request, cleanroom          what people look at; what was asked for; packages where nothing helps them
    6  pipeline, checkout                  what is done and why; what serves this checkout only
    7  workflows < release, proof          the same work as jobs; releases; what proves packages to others
    8  commands                            one module per command
    9  live < console < cli < __main__     where errors become text and exit codes

`tests/slipway/test_order.py` reads this table and holds it.

Imports of `LATE` cost nothing there: each of these modules is read when something of it
is used for the first time, so that a command which needs none of them starts at once.
"""

import importlib.machinery
import importlib.util
import sys

__version__ = "0.1.0"

LATE = frozenset(
    {
        "slipway.base.installed",
        "slipway.base.seal",
        "slipway.bootstrap.adding",
        "slipway.bootstrap.adding_debs",
        "slipway.bootstrap.cpython",
        "slipway.bootstrap.described",
        "slipway.bootstrap.making",
        "slipway.channel.hosts",
        "slipway.channel.indexes",
        "slipway.channel.limited_access",
        "slipway.channel.rattler",
        "slipway.channel.serving",
        "slipway.channel.stores.s3",
        "slipway.pipeline.bundle",
        "slipway.proof.bill",
        "slipway.proof.keyless",
        "slipway.proof.keys",
        "slipway.recipe.finish",
        "slipway.recipe.render",
        "slipway.recipe.templates",
        "slipway.recipe.v1",
        "slipway.report.jobs_page",
        "slipway.report.jobs_report",
        "slipway.report.page",
        "slipway.source.git",
        "slipway.source.patterns",
        "slipway.source.url",
        "slipway.live",
        "slipway.verify.elf",
        "slipway.verify.linking",
        "slipway.verify.verifier",
        "slipway.workflows.fleet",
        "slipway.workflows.worker",
    }
)
"""Modules that are dear to import and that few runs need. Who uses one imports the module, not names of it."""


class LateFinder:
    """Finds the modules of `LATE` as Python does, and gives them the loader of the library that waits."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        if name not in LATE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)  # type: ignore[arg-type]
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


sys.meta_path.insert(0, LateFinder)
if sys.pycache_prefix is not None:
    sys.dont_write_bytecode = False  # that is about files beside sources; the launcher has named a folder of its own
