"""Signed statements: DSSE envelopes, as in-toto and sigstore use them.

A signature covers the type and the bytes of what is in the envelope. Further keys add theirs to those that are there.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slipway.base.errors import IntegrityError
from slipway.base.json_file import parse_json
from slipway.channel.package_writer import to_json

if TYPE_CHECKING:
    from slipway.proof.keys import Signer, Trust

PAYLOAD_TYPE = "application/vnd.in-toto+json"


@dataclass(frozen=True)
class Envelope:
    """A statement as bytes, and its signatures by the id of their key."""

    payload: bytes
    signatures: tuple[tuple[str, bytes], ...] = ()

    @property
    def statement(self) -> dict[str, Any]:
        """The statement.

        Raises:
            IntegrityError: it is none.
        """
        found = parse_json(self.payload)
        if not isinstance(found, dict) or not isinstance(found.get("subject"), list):
            raise IntegrityError("a statement cannot be read")
        return found

    def signed(self, key: Signer) -> Envelope:
        """The same with the signature of `key`."""
        others = tuple(one for one in self.signatures if one[0] != key.id)
        return Envelope(self.payload, (*others, (key.id, key.sign(_encode(self.payload)))))

    def merged(self, other: Envelope) -> Envelope:
        """The same with the signatures of another envelope of the same statement."""
        return Envelope(self.payload, tuple(sorted({**dict(other.signatures), **dict(self.signatures)}.items())))

    def signers(self, trust: Trust) -> list[str]:
        """The names of the trusted keys and identities that have signed it."""
        message = _encode(self.payload)
        return [
            key.name
            for key in trust.signers
            if any(key.id == known and key.has_signed(message, signature) for known, signature in self.signatures)
        ]

    def to_bytes(self) -> bytes:
        """The file."""
        return to_json(
            {
                "payloadType": PAYLOAD_TYPE,
                "payload": base64.b64encode(self.payload).decode(),
                "signatures": [
                    {"keyid": known, "sig": base64.b64encode(signature).decode()}
                    for known, signature in sorted(self.signatures)
                ],
            }
        )

    @classmethod
    def of(cls, statement: object) -> Envelope:
        """A statement that nobody has signed."""
        return cls(json.dumps(statement, sort_keys=True, separators=(",", ":")).encode())

    @classmethod
    def parse(cls, content: bytes, where: str) -> Envelope:
        """The envelope in a file.

        Raises:
            IntegrityError: it is none.
        """
        document = parse_json(content)
        try:
            if document["payloadType"] != PAYLOAD_TYPE:
                raise ValueError(document["payloadType"])
            signatures = {one["keyid"]: base64.b64decode(one["sig"], validate=True) for one in document["signatures"]}
            payload = base64.b64decode(document["payload"], validate=True)
        except (KeyError, TypeError, ValueError, binascii.Error) as error:
            raise IntegrityError("a signed statement is damaged", where=where) from error
        return cls(payload, tuple(sorted(signatures.items())))


def _encode(payload: bytes) -> bytes:
    """What is signed: DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)
