"""Signatures without a key that somebody keeps: sigstore's, where a CI vouches for the workflow that runs there.

The signature is a sigstore bundle: a certificate of minutes for that identity, the signature, and the entry of the
public log that shows both. Signing asks sigstore's public servers; verifying asks nobody, its roots are those that the
installed `sigstore` knows. Untested on a hosted CI: what was tried is in docs/proof.md.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass

from slipway.base.errors import HostError
from slipway.proof import keyless

KEYLESS = "sigstore"
"""What stands for a key's file where this CI's identity is to sign."""


def require_sigstore() -> None:
    """See to it that sigstore can be imported.

    Raises:
        HostError: it is not installed.
    """
    if importlib.util.find_spec("sigstore") is None:
        raise HostError(
            "signatures of a CI's identity need the Python package `sigstore`",
            hint=f"`{sys.executable} -m pip install sigstore`",
        )


def identity_id(identity: str) -> str:
    """What signatures of an identity are called in envelopes, as keys are by their sha256."""
    return f"{KEYLESS}:{identity}"


@dataclass(frozen=True)
class TrustedIdentity:
    """Who a CI says that it is, who vouches for it, and what people call it.

    Attributes:
        identity: as in the certificate, for GitHub Actions
            ``https://github.com/OWNER/REPOSITORY/.github/workflows/FILE@refs/heads/BRANCH``.
        issuer: whose tokens count, for GitHub Actions ``https://token.actions.githubusercontent.com``.
    """

    name: str
    identity: str
    issuer: str

    @property
    def id(self) -> str:
        """What its signatures are called."""
        return identity_id(self.identity)

    def has_signed(self, message: bytes, signature: bytes) -> bool:
        """Whether a bundle is this identity's, of this message, and stands in the public log.

        Raises:
            HostError: sigstore is not installed.
        """
        require_sigstore()
        return keyless.is_signed_by(self.identity, self.issuer, message, signature)


class IdentitySigner:
    """Signs as what this CI says that it is.

    Raises:
        HostError: sigstore is not installed, or nobody here vouches for anybody.
        NetworkError: sigstore's servers, or the CI's, gave no answer that serves.
    """

    def __init__(self) -> None:
        require_sigstore()
        self._token = keyless.find_token()

    @property
    def id(self) -> str:
        """What its signatures are called."""
        return identity_id(self.public)

    @property
    def public(self) -> str:
        """The identity, as those who trust it name it."""
        return str(self._token.identity)

    def sign(self, message: bytes) -> bytes:
        """The bundle."""
        return keyless.sign(self._token, message)
