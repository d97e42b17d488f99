"""What proves a channel: the proofs of its packages beside them, and a signed statement of its catalogue.

All indexes follow from the catalogue, so a signature of its bytes is one of them all.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slipway.base.errors import ChannelError, IntegrityError, VerifyError
from slipway.base.json_file import parse_json
from slipway.channel import indexes
from slipway.channel.catalogue import BILL_SUFFIX, CATALOGUE, STATEMENT_SUFFIX, parse_catalogue
from slipway.proof import seen
from slipway.proof.envelope import Envelope
from slipway.proof.statements import (
    CONTENT,
    Proof,
    check_package,
    check_signatures,
    check_subjects,
    find_index_differences,
    make_channel_statement,
    signed_index,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.channel.catalogue import Catalogue
    from slipway.channel.stores import ChannelStore
    from slipway.proof.keys import Signer, Trust

STATEMENT = CATALOGUE + STATEMENT_SUFFIX


@dataclass(frozen=True)
class CheckedChannel:
    """What was found: how many packages, and who has signed the catalogue."""

    packages: int
    signers: tuple[str, ...]


def add_proof(store: ChannelStore, path: str, proof: Proof) -> None:
    """Put a package's proof into its channel; signatures of the same statement that are there stay."""
    there = store.read(path + STATEMENT_SUFFIX)
    if there is not None:
        known = Envelope.parse(there.content, f"{store.address}/{path}{STATEMENT_SUFFIX}")
        if known.payload == proof.envelope.payload:
            proof = Proof(proof.bill, proof.envelope.merged(known))
    for name, content in proof.files(path).items():
        if (found := store.read(name)) is None or found.content != content:
            store.write(name, content)


def sign_channel(store: ChannelStore, key: Signer) -> None:
    """Sign a channel's catalogue as it is; signatures of the same bytes that are there stay.

    Raises:
        ChannelError: it has none.
        IntegrityError: it is an earlier state than this machine has seen, or another channel's.
    """
    catalogue, there = store.read(CATALOGUE), store.read(STATEMENT)
    if catalogue is None:
        raise ChannelError("the channel has no catalogue", where=store.address, hint="`slipway publish` makes one")
    seen.remember_state(store.address, parse_catalogue(catalogue.content, f"{store.address}/{CATALOGUE}").state)
    envelope = make_channel_statement(catalogue.content)
    if there is not None:
        known = Envelope.parse(there.content, f"{store.address}/{STATEMENT}")
        envelope = envelope.merged(known) if known.payload == envelope.payload else envelope
    store.write(STATEMENT, envelope.signed(key).to_bytes())


def check_change(store: ChannelStore, catalogue: Catalogue, *, signed: bool) -> None:
    """See to it that a channel may change: what was signed gets a new signature, and is no earlier state of it.

    Args:
        catalogue: the channel's as it is.
        signed: whether it will be signed again.

    Raises:
        ChannelError: it is signed, and would be so no longer.
        IntegrityError: it is an earlier state than this machine has seen, or another channel's.
    """
    if signed and catalogue.packages:  # one that is made anew goes on from what was seen
        seen.check_state(store.address, catalogue.state)
    elif not signed and store.read(STATEMENT) is not None:
        raise ChannelError(
            "the channel is signed, and what is published now is not",
            where=store.address,
            hint="--key FILE signs it; who takes signed packages only would refuse the channel",
        )


def read_signed_catalogue(
    store: ChannelStore, trust: Trust, *, allow_rollback: bool = False
) -> tuple[Catalogue, tuple[str, ...]]:
    """A channel's catalogue, and who has signed it.

    Args:
        allow_rollback: take an earlier state than was seen before, and from now on what follows it.

    Raises:
        VerifyError: too few have.
        IntegrityError: they signed another one, or it is an earlier state than was seen here, or another channel's.
    """
    catalogue, statement = store.read(CATALOGUE), store.read(STATEMENT)
    where = f"{store.address}/{CATALOGUE}"
    if catalogue is None or statement is None:
        raise VerifyError("nobody has signed for this channel", where=where, hint="`slipway channel sign` does")
    envelope = Envelope.parse(statement.content, f"{store.address}/{STATEMENT}")
    signers = check_signatures(envelope, trust, where)
    check_subjects(envelope, CONTENT, {CATALOGUE: hashlib.sha256(catalogue.content).hexdigest()}, where)
    found = parse_catalogue(catalogue.content, where)
    seen.remember_state(store.address, found.state, allow_rollback=allow_rollback)
    return found, tuple(signers)


def find_signed_catalogue(store: ChannelStore, trust: Trust, *, allow_rollback: bool = False) -> Catalogue | None:
    """The same; None of a channel that was never seen with enough signatures.

    Raises:
        VerifyError: it was, and now has too few.
        IntegrityError: see `read_signed_catalogue`.
    """
    try:
        return read_signed_catalogue(store, trust, allow_rollback=allow_rollback)[0]
    except VerifyError:
        if seen.seen_state(store.address) is not None and not allow_rollback:
            raise
        return None


def check_channel(store: ChannelStore, trust: Trust, *, contents: bool, allow_rollback: bool = False) -> CheckedChannel:
    """Hold a channel to what is signed: its catalogue, its indexes, and the proof of every package.

    Args:
        contents: whether the packages themselves are read, too.
        allow_rollback: see `read_signed_catalogue`.

    Raises:
        VerifyError: nobody whom one trusts says so, or too few.
        IntegrityError: something is not as it was signed; the message says what differs.
    """
    catalogue, signers = read_signed_catalogue(store, trust, allow_rollback=allow_rollback)
    made = indexes.make_indexes(catalogue)
    for name, content in made.items():
        there = store.read(name)
        actual = there.content if there is not None else None
        if actual != content:
            raise IntegrityError(
                f"the index is not what the signed catalogue gives{_explain(name, content, actual)}",
                where=f"{store.address}/{name}",
                hint="somebody changed it, or is just publishing; `slipway channel repair` writes it again",
            )
    for name in indexes.foreign_indexes(made):
        if store.read(name) is not None:
            raise IntegrityError(
                "an index lies there that the signed catalogue does not give",
                where=f"{store.address}/{name}",
                hint="solvers may read it before all others: remove it",
            )
    for path, package in catalogue.packages.items():
        where = f"{store.address}/{path}"
        sha256 = store.hash_file(path) if contents else package.sha256
        if sha256 != package.sha256:
            raise IntegrityError(
                f"the package has the sha256 {sha256}, and the signed catalogue says {package.sha256}", where=where
            )
        proof = read_stored_proof(store, path)
        check_package(path.rpartition("/")[2], sha256, proof, trust, where)
        if proof is not None and (found := find_index_differences(package.record, signed_index(proof.envelope))):
            raise IntegrityError(f"the catalogue is not what the package says: {'; '.join(found)}", where=where)
    return CheckedChannel(len(catalogue.packages), signers)


def read_stored_proof(store: ChannelStore, path: str) -> Proof | None:
    """The proof of a channel's package; None if there is no statement.

    Raises:
        IntegrityError: it is damaged.
    """
    statement, content = store.read(path + STATEMENT_SUFFIX), store.read(path + BILL_SUFFIX)
    if statement is None:
        return None
    envelope = Envelope.parse(statement.content, f"{store.address}/{path}{STATEMENT_SUFFIX}")
    return Proof(content.content if content is not None else b"", envelope)


def _explain(name: str, expected: bytes, actual: bytes | None) -> str:
    """What differs, as far as it can be said in a line."""
    if actual is None:
        return ": it is not there"
    if not name.endswith(".json"):
        return ""
    one, other = parse_json(expected), parse_json(actual)
    return f": {', '.join(_differing(one, other)[:5])}" if isinstance(other, dict) else ": it is no JSON"


def _differing(one: Any, other: Any, above: str = "") -> list[str]:
    """The keys under which two JSON values differ."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return [above] if one != other else []
    found: list[str] = []
    keys: Mapping[str, None] = dict.fromkeys([*one, *other])
    for key in keys:
        found += _differing(one.get(key), other.get(key), f"{above} / {key}" if above else key)
    return found
