"""Who has signed a bundle: a statement beside it, of its list of contents, by which every file of it is known."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from slipway.base.errors import VerifyError
from slipway.base.files import write_file
from slipway.channel.catalogue import STATEMENT_SUFFIX
from slipway.pipeline.bundle_archive import CONTENTS, read_contents
from slipway.proof.envelope import Envelope
from slipway.proof.statements import check_signatures, check_subjects, make_statement

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from slipway.proof.keys import Signer, Trust

KIND = "urn:slipway:bundle:1"
"""The type of what is said of a bundle."""


def sign_bundle(path: Path, signing: Iterable[Signer]) -> None:
    """Write the bundle's statement beside it, signed; signatures of the same statement that are there stay.

    Raises:
        IntegrityError: it is no bundle, or what lies beside it is no statement.
    """
    envelope = make_statement({CONTENTS: _digest(path)}, KIND)
    beside = path.with_name(path.name + STATEMENT_SUFFIX)
    if beside.is_file():
        known = Envelope.parse(beside.read_bytes(), str(beside))
        envelope = envelope.merged(known) if known.payload == envelope.payload else envelope
    for key in signing:
        envelope = envelope.signed(key)
    write_file(beside, envelope.to_bytes())


def check_bundle(path: Path, trust: Trust) -> list[str]:
    """See to it that enough of those who are trusted have signed a bundle; their names.

    Files of it are compared with its list of contents when it is opened.

    Raises:
        VerifyError: nobody has signed it, or too few of those.
        IntegrityError: it is no bundle, or they have signed another one.
        UsageError: there is no such file.
    """
    digest = _digest(path)
    beside = path.with_name(path.name + STATEMENT_SUFFIX)
    if not beside.is_file():
        raise VerifyError(
            "nobody has signed for this bundle", where=str(path), hint=f"`slipway attest --key FILE {path.name}` does"
        )
    envelope = Envelope.parse(beside.read_bytes(), str(beside))
    signers = check_signatures(envelope, trust, str(path))
    check_subjects(envelope, KIND, {CONTENTS: digest}, str(path))
    return signers


def _digest(path: Path) -> str:
    return hashlib.sha256(read_contents(path)).hexdigest()
