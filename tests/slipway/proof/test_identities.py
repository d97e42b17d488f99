"""Signatures of a CI's identity: who is trusted, and what is said where sigstore or a CI is missing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from slipway.base.errors import HostError, UsageError
from slipway.proof.envelope import Envelope
from slipway.proof.identities import KEYLESS, TrustedIdentity, identity_id
from slipway.proof.keys import SigningKey, Trust, TrustedKey, load_signer, load_trust

WORKFLOW = "https://github.com/owner/repository/.github/workflows/release.yml@refs/heads/main"
ISSUER = "https://token.actions.githubusercontent.com"
CI = TrustedIdentity("ci", WORKFLOW, ISSUER)

without_sigstore = pytest.mark.skipif(importlib.util.find_spec("sigstore") is not None, reason="sigstore is installed")


def test_identities_count_with_the_keys(tmp_path: Path, signing: list[SigningKey]) -> None:
    file = tmp_path / "trusted.yaml"
    text = f"threshold: 2\nkeys: [{{name: me, key: {signing[0].public}}}]\n"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="it takes 1 to 1 signatures"):
        load_trust(file)
    file.write_text(f"{text}identities: [{{name: ci, identity: '{WORKFLOW}', issuer: '{ISSUER}'}}]\n", encoding="utf-8")
    assert [one.name for one in load_trust(file).signers] == ["me", "ci"]
    file.write_text(f"identities: [{{name: ci, identity: '{WORKFLOW}'}}]\n", encoding="utf-8")
    with pytest.raises(UsageError, match="issuer"):
        load_trust(file)


def test_an_identity_stands_once(signing: list[SigningKey]) -> None:
    with pytest.raises(ValueError, match="stands twice"):
        Trust((TrustedKey("me", signing[0].public),), 2, identities=(CI, TrustedIdentity("other", WORKFLOW, ISSUER)))


@without_sigstore
def test_what_sigstore_would_judge_is_never_taken_without_it() -> None:
    trust = Trust(identities=(CI,))
    assert Envelope.of({"subject": []}).signers(trust) == [], "nobody signed: there is nothing to judge"
    signed = Envelope(b"{}", ((identity_id(WORKFLOW), b"{}"),))
    with pytest.raises(HostError, match="`sigstore`"):
        signed.signers(trust)


@without_sigstore
def test_signing_without_it_says_how_to_get_it() -> None:
    with pytest.raises(HostError) as caught:
        load_signer(Path(KEYLESS))
    assert "pip install sigstore" in str(caught.value.hint)
