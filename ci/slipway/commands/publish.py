"""Add packages to a channel and index it, so that no reader ever sees an index that names a missing file.

    slipway publish --to DIR               everything in dist/channel, to the channel at DIR
    slipway publish --to DIR FILE.conda    these packages
    slipway publish --to s3://BUCKET/ch    into a bucket; http(s)://HOST/ch: onto a server that takes PUT (WebDAV);
                                           oci://HOST/ch: into a registry of containers
    slipway publish --to quetz://HOST/ch   to a server that indexes itself: prefix, quetz, artifactory, anaconda
    slipway publish --to ADDRESS --dry-run say what would be done, and change nothing

Each package is judged first (see `slipway verify`); one with an error is refused, and with it the whole step. One
that a job handed on, with a record beside it, must be as it was then, and gets its own name again. A package that is
there already is left alone; another one of its name is refused. docs/publish.md tells more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, UsageError, VerifyError
from slipway.base.events import ERROR
from slipway.base.files import hash_file, link_or_copy
from slipway.base.paths import Workspace
from slipway.base.scratch import scratch_folder
from slipway.channel import hosts, publishing, stores
from slipway.channel.folder import Channel
from slipway.channel.hotfixes import load_hotfixes
from slipway.channel.package import read_file_name
from slipway.proof import keys
from slipway.proof.channels import add_proof, check_change, sign_channel
from slipway.proof.seen import seen_state
from slipway.proof.statements import Proof, check_package, make_proof, read_proof
from slipway.verify.findings import format_findings
from slipway.verify.indexed import check_index, read_index
from slipway.verify.verifier import Verifier
from slipway.workflows.handing import check_handed, record_of

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter
    from slipway.channel.catalogue import Catalogue
    from slipway.channel.publishing import PublishPlan, ToPublish


HOSTS = ("prefix", "quetz", "artifactory", "anaconda")
"""Servers that index what is uploaded to them (`slipway.channel.hosts`)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("packages", nargs="*", type=Path, metavar="FILE", help="packages (default: dist/channel's)")
    parser.add_argument("--to", required=True, metavar="ADDRESS", help="the channel; made if it is not there")
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel to publish from (default: dist/)")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and change nothing")
    parser.add_argument("--hotfixes", type=Path, metavar="FILE", help="YAML: what indexes say otherwise than packages")
    parser.add_argument("--replace-leftovers", action="store_true",
                        help="write over what a publisher left that was cut off")  # fmt: skip
    parser.add_argument("--alone", action="store_true",
                        help="nobody else publishes there: for servers that cannot tell two apart")  # fmt: skip
    parser.add_argument("--key", type=Path, metavar="FILE",
                        help="sign packages and channel with this key, or sigstore, see `slipway attest`")  # fmt: skip
    parser.add_argument("--index", metavar="URL",
                        help="where the channel of such a server is read, if not there; or `none`")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Publish; returns the exit code."""
    hosted = stores.scheme_of(arguments.to).partition("+")[0] in HOSTS
    stores.check_scheme(arguments.to, (*stores.SCHEMES, *HOSTS, *(f"{name}+http" for name in HOSTS)))
    with scratch_folder("judge") as scratch:
        packages = _judge(arguments, scratch, reporter)
        wanted = publishing.prepare(packages, load_hotfixes(arguments.hotfixes) if arguments.hotfixes else None)
        done = (_publish_to_host if hosted else _publish_to_store)(arguments, wanted, reporter)
    if arguments.json:
        print(json.dumps(done.to_json(), indent=2))
        return 0
    for line in done.lines() if arguments.dry_run else ():
        reporter.line(line)
    there = f", {len(done.present)} of them before" if done.present else ""
    would = "would be " if arguments.dry_run else ""
    reporter.line(f"{len(done.added) + len(done.present)} package(s) {would}in {done.address}{there}")
    return 0


def _publish_to_store(arguments: argparse.Namespace, wanted: ToPublish, reporter: Reporter) -> PublishPlan:
    key = keys.load_signer(arguments.key) if arguments.key else None

    def plan(catalogue: Catalogue) -> PublishPlan:
        made = publishing.make_plan(store.address, catalogue, wanted)
        if made.catalogue != catalogue:
            check_change(store, catalogue, signed=key is not None)
        return made

    if arguments.dry_run:
        store = stores.find_store(arguments.to, alone=arguments.alone)
        return plan(publishing.read_catalogue(store)[0])
    with (
        stores.open_store(arguments.to, alone=arguments.alone) as store,
        reporter.step(f"publish to {store.address}"),
    ):
        done = publishing.carry_out(
            store,
            plan,
            reporter,
            on_upload=lambda path: add_proof(store, path, _prove(wanted.files[path], key)),
            replace_leftovers=arguments.replace_leftovers,
            seen=seen_state(store.address) if key is not None else None,
        )
        for path in done.present if key is not None else ():
            add_proof(store, path, _prove(wanted.files[path], key))
        if key is not None:
            sign_channel(store, key)
    return done


def _prove(package: Path, key: keys.Signer | None) -> Proof:
    """What proves a package: what lies beside it, or what it says itself."""
    proof = read_proof(package) or make_proof(package)
    check_package(package.name, hash_file(package), proof, None, str(package))
    return proof if key is None else Proof(proof.bill, proof.envelope.signed(key))


def _publish_to_host(arguments: argparse.Namespace, wanted: ToPublish, reporter: Reporter) -> PublishPlan:
    host = hosts.HostedChannel.parse(arguments.to, arguments.index)
    if wanted.hotfixes is not None:
        raise UsageError("hotfixes cannot be published there: the server makes the index", where=arguments.to)
    if arguments.key is not None:
        raise UsageError("proofs cannot be published there: the server takes packages only", where=arguments.to)
    plan = host.plan(wanted)
    if not arguments.dry_run:
        with reporter.step(f"publish to {host.address}"):
            host.carry_out(plan, reporter)
    return plan


def _judge(arguments: argparse.Namespace, scratch: Path, reporter: Reporter) -> list[tuple[str, Path]]:
    """Subdir and file of each package that is asked for; those that were handed on lie in `scratch`.

    Raises:
        VerifyError: one breaks a policy.
    """
    source = Channel(Workspace.of_checkout(arguments.dist).channel)
    paths: list[Path] = arguments.packages or source.packages()
    if not paths:
        raise ChannelError(
            "there is nothing to publish", where=str(source.folder), hint="`slipway ship` fills that channel"
        )
    verifier = Verifier()
    packages = []
    for given in paths:
        if not given.is_file():
            raise ChannelError("there is no such package", where=str(given))
        check_handed(given, needs_record=False)
        path = _give_own_name(given, scratch) if record_of(given).is_file() else given
        with reporter.step(f"verify {path.name}"):
            facts = verifier.facts(path)
            index = read_index(path.parent)
            if index is not None:
                check_index(path, facts, index)
        errors = [finding for finding in verifier.judge(facts, None) if finding.severity == ERROR]
        if errors:
            raise VerifyError(
                "the package breaks a policy, so nothing was published",
                where=str(path),
                detail=format_findings(errors),
            )
        packages.append((str(facts.index["subdir"]), path))
    return packages


def _give_own_name(handed: Path, scratch: Path) -> Path:
    """A handed package under the name that it has in itself: jobs hand on under one from before anything is solved."""
    named = scratch / str(len(list(scratch.iterdir()))) / read_file_name(handed)
    named.parent.mkdir()
    link_or_copy(handed, named)
    return named
