"""Who signs and who is trusted: Ed25519 keys, and identities that a CI vouches for.

# trusted.yaml
threshold: 2                       # so many of them have to have signed (default: 1)
keys:
  - name: builder
    key: 3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08
  - {name: rebuilder, key: ...}
identities:                        # signatures without a key, see `slipway.proof.identities`
  - {name: ci, identity: "https://github.com/OWNER/REPOSITORY/.github/workflows/FILE@refs/heads/main",
     issuer: "https://token.actions.githubusercontent.com"}
unsigned: ["https://example.org/main"]   # channels whose packages need no signature
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from slipway.base.errors import UsageError
from slipway.base.schema import InvalidValueError, read_yaml
from slipway.proof.identities import KEYLESS, IdentitySigner, TrustedIdentity

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class TrustedKey:
    """A public key, as `show_public` writes it, and what people call it."""

    name: str
    key: str

    def __post_init__(self) -> None:
        try:
            Ed25519PublicKey.from_public_bytes(_decode(self.key))
        except (ValueError, binascii.Error):
            raise InvalidValueError("no public key of Ed25519", "key") from None

    @property
    def id(self) -> str:
        """What signatures call it: the sha256 of the key."""
        return key_id(_decode(self.key))

    def has_signed(self, message: bytes, signature: bytes) -> bool:
        """Whether a signature of this message is this key's."""
        try:
            Ed25519PublicKey.from_public_bytes(_decode(self.key)).verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class Trust:
    """The file: whose signatures count, how many it takes, and where none is asked for."""

    keys: tuple[TrustedKey, ...] = ()
    threshold: int = 1
    unsigned: tuple[str, ...] = ()
    identities: tuple[TrustedIdentity, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.signers)
        if count == 0:
            raise InvalidValueError("nobody is trusted: it has neither `keys` nor `identities`")
        if len({one.id for one in self.signers}) != count:
            raise InvalidValueError("a key or an identity stands twice: its signature would count twice")
        if not 1 <= self.threshold <= count:
            raise InvalidValueError(
                f"it takes 1 to {count} signatures, as many as there are keys and identities", "threshold"
            )

    @property
    def signers(self) -> tuple[TrustedKey | TrustedIdentity, ...]:
        """All whose signatures count."""
        return (*self.keys, *self.identities)


def load_trust(path: Path) -> Trust:
    """Who is trusted.

    Raises:
        UsageError: the file is not of that form.
    """
    return read_yaml(path, Trust)


class Signer(Protocol):
    """What signs."""

    @property
    def id(self) -> str:
        """What its signatures are called."""

    @property
    def public(self) -> str:
        """How a file of those who are trusted names it."""

    def sign(self, message: bytes) -> bytes:
        """The signature."""


class SigningKey:
    """A private key; its file is read, and nothing of it is shown."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self._public = key.public_key().public_bytes_raw()

    @property
    def id(self) -> str:
        """What its signatures call it."""
        return key_id(self._public)

    @property
    def public(self) -> str:
        """The public key, for a file of those who are trusted."""
        return base64.urlsafe_b64encode(self._public).decode().rstrip("=")

    def sign(self, message: bytes) -> bytes:
        """The signature."""
        return self._key.sign(message)


def load_signer(path: Path) -> Signer:
    """The private key in a PEM file, or this CI's identity for the word `sigstore`.

    Raises:
        HostError, NetworkError: see `slipway.proof.identities.IdentitySigner`.
        UsageError: see `load_key`.
    """
    return IdentitySigner() if str(path) == KEYLESS else load_key(path)


def load_key(path: Path) -> SigningKey:
    """The private key in a PEM file.

    Raises:
        UsageError: it holds none, or others may read it.
    """
    hint = "`slipway attest --new-key FILE` makes one"
    try:
        if path.stat().st_mode & 0o077:
            raise UsageError("others may read the private key", where=str(path), hint=f"chmod 600 {path}")
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        raise UsageError(f"the private key cannot be read: {error.strerror}", where=str(path), hint=hint) from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        reason = "it is encrypted" if isinstance(error, TypeError) else "no key in PEM's form"
        raise UsageError(f"the private key cannot be read: {reason}", where=str(path), hint=hint) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError("the private key is not one of Ed25519", where=str(path), hint=hint)
    return SigningKey(key)


def make_key(path: Path) -> SigningKey:
    """A new private key in a file that only its owner may read.

    Raises:
        UsageError: the file is there already, or its folder is not.
    """
    key = Ed25519PrivateKey.generate()
    content = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError("the file is there already", where=str(path), hint="name another one") from None
    except OSError as error:
        raise UsageError(f"the private key cannot be written: {error.strerror}", where=str(path)) from error
    with os.fdopen(number, "wb") as file:
        file.write(content)
    return SigningKey(key)


def key_id(public: bytes) -> str:
    """The sha256 of a public key, in hex."""
    return hashlib.sha256(public).hexdigest()


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
