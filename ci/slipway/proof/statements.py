"""What is said of a package and of a channel, in in-toto's form.

Of a package: SLSA's provenance, with its bill of materials as a second subject. Of a channel: which bytes its catalogue
has. Neither holds a time or a machine: the same package gives the same statement, so that others who built it again
sign the same words.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slipway.base.errors import IntegrityError, VerifyError
from slipway.base.files import hash_file, write_file
from slipway.base.json_file import parse_json
from slipway.channel.catalogue import BILL_SUFFIX, CATALOGUE, STATEMENT_SUFFIX
from slipway.channel.package import read_info
from slipway.pipeline.manifest import MANIFEST_FILE, Manifest
from slipway.proof import bill
from slipway.proof.bill import package_url
from slipway.proof.envelope import Envelope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.proof.keys import Signer, Trust

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PROVENANCE = "https://slsa.dev/provenance/v1"
CONTENT = "urn:slipway:channel:1"
"""The type of what is said of a channel."""

INDEX = "info/index.json"
COMPARED = ("name", "version", "build", "build_number", "depends", "constrains")
"""What an index may not say otherwise than the package does."""


@dataclass(frozen=True)
class Proof:
    """What lies beside a package: its bill of materials and its signed statement."""

    bill: bytes
    envelope: Envelope

    def files(self, name: str) -> dict[str, bytes]:
        """The files, by name, of the package `name`."""
        return {name + BILL_SUFFIX: self.bill, name + STATEMENT_SUFFIX: self.envelope.to_bytes()}


def make_proof(package: Path) -> Proof:
    """The bill and the statement of a package, which nobody has signed yet.

    Raises:
        IntegrityError: it cannot be read.
    """
    text = read_info(package, MANIFEST_FILE)
    manifest = Manifest.from_json(text, where=str(package)) if text is not None else None
    content = bill.make_bill(package, manifest)
    index = read_info(package, "index.json") or b"{}"
    subjects = {package.name: hash_file(package), package.name + BILL_SUFFIX: _sha256(content)}
    predicate = {
        "buildDefinition": {
            "buildType": "urn:slipway:build:1",
            "externalParameters": dict(manifest.rendered.get("hash_input", {})) if manifest else {},
            "internalParameters": {"digest": manifest.digest, "format": manifest.format} if manifest else {},
            "resolvedDependencies": list(_dependencies(manifest)) if manifest else [],
        },
        "runDetails": {
            "builder": {"id": f"urn:slipway:engine:{manifest.engine if manifest else 'unknown'}"},
            "byproducts": [
                {"name": INDEX, "digest": {"sha256": _sha256(index)}, "content": base64.b64encode(index).decode()}
            ],
        },
    }
    return Proof(content, Envelope.of(_statement(subjects, PROVENANCE, predicate)))


def _dependencies(manifest: Manifest) -> Iterator[dict[str, Any]]:
    for environment, packages in sorted(manifest.environments.items()):
        for name, (version, build, sha256) in sorted(packages.items()):
            uri = package_url(name, version, build)
            yield {"name": environment, "uri": uri, "digest": {"sha256": sha256}}
    for entry in manifest.sources:
        for name, known in sorted({**entry.get("files", {}), **entry.get("patches", {})}.items()):
            yield {"name": name, "digest": {"sha256": known.split(":")[1]}}
        if entry.get("git_commit"):
            yield {"uri": str(entry["git"][0]), "digest": {"gitCommit": entry["git_commit"]}}


def make_channel_statement(catalogue: bytes) -> Envelope:
    """What is said of a channel whose catalogue has these bytes."""
    return make_statement({CATALOGUE: _sha256(catalogue)}, CONTENT)


def make_statement(subjects: Mapping[str, str], kind: str) -> Envelope:
    """A statement that nobody has signed: the sha256 of each subject, and nothing else."""
    return Envelope.of(_statement(subjects, kind, {}))


def _statement(subjects: Mapping[str, str], kind: str, predicate: object) -> dict[str, Any]:
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": sha256}} for name, sha256 in subjects.items()],
        "predicateType": kind,
        "predicate": predicate,
    }


def read_proof(package: Path) -> Proof | None:
    """What lies beside a package; None if there is no statement.

    Raises:
        IntegrityError: it is damaged.
    """
    statement, content = (package.with_name(package.name + suffix) for suffix in (STATEMENT_SUFFIX, BILL_SUFFIX))
    if not statement.is_file():
        return None
    envelope = Envelope.parse(statement.read_bytes(), str(statement))
    return Proof(content.read_bytes() if content.is_file() else b"", envelope)


def write_proof(package: Path, proof: Proof) -> None:
    """Put it beside the package."""
    for name, content in proof.files(package.name).items():
        write_file(package.with_name(name), content)


def sign_package(path: Path, signing: Iterable[Signer], reporter: Reporter) -> None:
    """Write a package's proof beside it, signed; signatures of the same statement that are there stay."""
    proof = make_proof(path)
    envelope = proof.envelope
    known = read_proof(path)
    if known is not None and known.envelope.payload == envelope.payload:
        envelope = envelope.merged(known.envelope)
    elif known is not None:
        reporter.line(f"{path.name}: what lay beside it was about another package, and is replaced")
    for key in signing:
        envelope = envelope.signed(key)
    write_proof(path, Proof(proof.bill, envelope))


def check_subjects(envelope: Envelope, kind: str, actual: Mapping[str, str], where: str) -> None:
    """Compare a statement with what is there.

    Args:
        actual: the sha256 of each of its subjects.

    Raises:
        IntegrityError: it is about something else; the message says what differs.
    """
    statement = envelope.statement
    if statement.get("_type") != STATEMENT_TYPE or statement.get("predicateType") != kind:
        raise IntegrityError(f"the statement is of another type: {statement.get('predicateType')}", where=where)
    told = {str(one.get("name")): (one.get("digest") or {}).get("sha256") for one in statement["subject"]}
    for name, sha256 in actual.items():
        if told.get(name) != sha256:
            said = f"tells of sha256 {told[name]}" if name in told else "does not tell of it"
            raise IntegrityError(f"`{name}` has the sha256 {sha256}, and its statement {said}", where=where)


def check_signatures(envelope: Envelope, trust: Trust, where: str) -> list[str]:
    """See to it that enough of those who are trusted have signed; their names.

    Raises:
        VerifyError: too few have.
    """
    found = envelope.signers(trust)
    if len(found) < trust.threshold:
        who = f"only {', '.join(found)}" if found else "none"
        others = {known for known, _ in envelope.signatures} - {one.id for one in trust.signers}
        strangers = f"; {len(others)} signature(s) are of keys that nobody trusts" if others else ""
        raise VerifyError(
            f"it takes {trust.threshold} signature(s) of trusted keys, and {who} of them has signed{strangers}",
            where=where,
            hint="`slipway attest --key FILE` adds a signature",
        )
    return found


def check_package(name: str, sha256: str, proof: Proof | None, trust: Trust | None, where: str) -> list[str]:
    """Hold a package to what is said of it; the names of those who signed.

    Args:
        sha256: what its bytes have.
        trust: whose signatures it takes; None if none are asked for.

    Raises:
        VerifyError: nobody whom one trusts says so, or too few.
        IntegrityError: what is said is about other bytes.
    """
    if proof is None:
        raise VerifyError("nobody has signed for this package", where=where, hint="`slipway attest` writes a statement")
    signers = check_signatures(proof.envelope, trust, where) if trust is not None else []
    check_subjects(proof.envelope, PROVENANCE, {name: sha256, name + BILL_SUFFIX: _sha256(proof.bill)}, where)
    return signers


def signed_index(envelope: Envelope) -> dict[str, Any]:
    """What the package says of itself (index.json), as the statement has it.

    Raises:
        IntegrityError: the statement does not tell.
    """
    try:
        products = envelope.statement["predicate"]["runDetails"]["byproducts"]
        (content,) = [base64.b64decode(one["content"]) for one in products if one["name"] == INDEX]
        found = parse_json(content)
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityError("the statement does not tell what the package says of itself") from error
    return found if isinstance(found, dict) else {}


def find_index_differences(record: Mapping[str, Any], own: Mapping[str, Any]) -> list[str]:
    """What an index says of a package otherwise than the package itself, in words."""
    found = []
    for key in COMPARED:
        there, here = (_plain(key, one.get(key)) for one in (record, own))
        if there != here:
            found.append(f"{key}: the index says {there}, the package {here}")
    return found


def _plain(key: str, value: Any) -> Any:
    return sorted(value or []) if key in ("depends", "constrains") else value


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
