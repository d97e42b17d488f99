"""Write what is in packages and what they were made from, and sign it.

    slipway attest --new-key builder.pem         a key of Ed25519; prints the public one
    slipway attest --key builder.pem             everything in dist/channel
    slipway attest --key builder.pem FILE.conda  these packages
    slipway attest --key builder.pem FILE        this bundle, and with it all that it holds
    slipway attest --key sigstore                without a key: as the workflow that a CI says is running

Beside each package come its bill of materials (FILE.conda.cdx.json, CycloneDX) and a statement of its provenance
(FILE.conda.intoto.json: in-toto, SLSA), signed by the key. Further keys add their signatures. `slipway publish` takes
both along; `slipway verify --keys`, `slipway install --require-signed` and `slipway channel verify` hold packages to
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError
from slipway.base.paths import Workspace
from slipway.channel.folder import Channel
from slipway.channel.package import PACKAGE_SUFFIX
from slipway.proof import keys
from slipway.proof.bundles import sign_bundle
from slipway.proof.statements import sign_package

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("packages", nargs="*", type=Path, metavar="FILE",
                        help="packages (default: dist/channel's), and bundles")  # fmt: skip
    parser.add_argument("--key", type=Path, action="append", default=[], metavar="FILE",
                        help="sign with this private key (PEM), or as this CI: sigstore (repeatable)")  # fmt: skip
    parser.add_argument("--new-key", type=Path, metavar="FILE", help="make a private key, and do nothing else")
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel (default: dist/)")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Write and sign; returns the exit code."""
    if arguments.new_key is not None:
        made = keys.make_key(arguments.new_key)
        reporter.line(f"the private key is in {arguments.new_key}; the public one, for those who trust it:")
        print(made.public)
        return 0
    signing = [keys.load_signer(path) for path in arguments.key]
    channel = Channel(Workspace.of_checkout(arguments.dist).channel)
    paths: list[Path] = arguments.packages or channel.packages()
    if not paths:
        raise ChannelError("there is nothing to attest", where=str(channel.folder), hint="`slipway ship` fills it")
    for path in paths:
        with reporter.step(f"attest {path.name}"):
            if path.suffix == PACKAGE_SUFFIX:
                sign_package(path, signing, reporter)
            else:
                sign_bundle(path, signing)
    reporter.line(f"{len(paths)} file(s), {len(signing)} signature(s) each")
    return 0
