"""What `slipway.proof.identities` asks of sigstore, which need not be installed: see `require_sigstore` there."""

from __future__ import annotations

from sigstore.errors import Error
from sigstore.models import Bundle, ClientTrustConfig, InvalidBundle
from sigstore.oidc import ExpiredIdentity, IdentityToken, detect_credential
from sigstore.sign import SigningContext
from sigstore.verify import Verifier, policy

from slipway.base.errors import HostError, NetworkError


def is_signed_by(identity: str, issuer: str, message: bytes, bundle: bytes) -> bool:
    """Whether a bundle is of this message and identity, and stands in the public log. Asks no server."""
    try:
        wanted = policy.Identity(identity=identity, issuer=issuer)
        Verifier.production(offline=True).verify_artifact(message, Bundle.from_json(bundle), wanted)
    except (Error, InvalidBundle, ValueError):
        return False
    return True


def find_token() -> IdentityToken:
    """What this CI says of who runs here.

    Raises:
        HostError: there is nobody who vouches for that.
        NetworkError: the CI gave no answer that serves.
    """
    try:
        raw = detect_credential()
    except Error as error:
        raise _unanswered(error) from error
    if raw is None:
        raise HostError(
            "no CI vouches for who runs here",
            hint="on GitHub Actions the job needs `permissions: {id-token: write}`; or name a key's file",
        )
    return IdentityToken(raw)


def sign(token: IdentityToken, message: bytes) -> bytes:
    """The bundle.

    Raises:
        NetworkError: sigstore's servers gave no answer that serves.
    """
    try:
        with SigningContext.from_trust_config(ClientTrustConfig.production()).signer(token) as signer:
            return str(signer.sign_artifact(message).to_json()).encode()
    except (Error, ExpiredIdentity) as error:
        raise _unanswered(error) from error


def _unanswered(error: Exception) -> NetworkError:
    return NetworkError(
        f"sigstore did not sign: {error or type(error).__name__}", hint="run the same command again in a fresh job"
    )
