"""What is said of a package, who signs it, and what is refused."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import IntegrityError, UsageError, VerifyError
from slipway.base.files import hash_file
from slipway.base.log import NullReporter
from slipway.proof.envelope import Envelope
from slipway.proof.keys import SigningKey, Trust, load_key, load_trust, make_key
from slipway.proof.statements import (
    Proof,
    check_package,
    find_index_differences,
    make_proof,
    read_proof,
    sign_package,
    signed_index,
    write_proof,
)

if TYPE_CHECKING:
    from pathlib import Path


def check(package: Path, proof: Proof | None, trust: Trust | None) -> list[str]:
    return check_package(package.name, hash_file(package), proof, trust, "here")


def test_what_is_said_of_a_package(package: Path) -> None:
    proof = make_proof(package)
    assert make_proof(package) == proof, "the same package gives the same words"
    bill = json.loads(proof.bill)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    own = bill["metadata"]["component"]
    assert own["purl"] == "pkg:conda/libtoy@1.0?build=h0123456_0&subdir=linux-64"
    assert own["hashes"] == [{"alg": "SHA-256", "content": hash_file(package)}]
    statement = proof.envelope.statement
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    assert [one["name"] for one in statement["subject"]] == [package.name, f"{package.name}.cdx.json"]
    assert statement["predicate"]["buildDefinition"]["internalParameters"]["digest"]
    assert signed_index(proof.envelope)["name"] == "libtoy"


def test_a_threshold_of_keys(package: Path, signing: list[SigningKey], trust: Trust) -> None:
    proof = make_proof(package)
    with pytest.raises(VerifyError, match=r"takes 2 signature\(s\) of trusted keys, and none of them"):
        check(package, proof, trust)
    once = Proof(proof.bill, proof.envelope.signed(signing[0]).signed(signing[0]).signed(signing[2]))
    with pytest.raises(VerifyError, match=r"only builder of them has signed; 1 signature\(s\) are of keys that nobody"):
        check(package, once, trust)
    twice = Proof(proof.bill, once.envelope.signed(signing[1]))
    assert check(package, twice, trust) == ["builder", "rebuilder"]
    with pytest.raises(VerifyError, match="nobody has signed for this package"):
        check(package, None, trust)


def test_signatures_of_others_stay(package: Path, signing: list[SigningKey], trust: Trust) -> None:
    sign_package(package, [signing[0]], NullReporter())
    sign_package(package, [signing[1]], NullReporter())
    found = read_proof(package)
    assert check(package, found, trust) == ["builder", "rebuilder"]


def test_tampering(package: Path, signing: list[SigningKey], trust: Trust) -> None:
    sign_package(package, signing[:2], NullReporter())
    proof = read_proof(package)
    assert proof is not None
    with pytest.raises(IntegrityError, match=r"libtoy.* has the sha256 0000.*, and its statement tells of sha256"):
        check_package(package.name, "0" * 64, proof, trust, "here")
    with pytest.raises(IntegrityError, match=r"cdx.json` has the sha256"):
        check(package, replace(proof, bill=proof.bill.replace(b"1.6", b"1.7")), trust)
    other = Envelope(proof.envelope.payload.replace(b"libtoy-", b"libtoi-"), proof.envelope.signatures)
    with pytest.raises(VerifyError, match="none of them has signed"):
        check(package, replace(proof, envelope=other), trust)
    borrowed = tuple((signing[0].id, signature) for _, signature in proof.envelope.signatures[1:])
    with pytest.raises(VerifyError):
        check(package, replace(proof, envelope=Envelope(proof.envelope.payload, borrowed)), trust)
    renamed = Envelope.of({**proof.envelope.statement, "predicateType": "other"}).signed(signing[0]).signed(signing[1])
    with pytest.raises(IntegrityError, match="of another type: other"):
        check(package, replace(proof, envelope=renamed), trust)


def test_every_byte_of_an_envelope_counts(package: Path, signing: list[SigningKey], trust: Trust) -> None:
    sign_package(package, signing[:2], NullReporter())
    path = package.with_name(f"{package.name}.intoto.json")
    content = path.read_bytes()
    for position in range(0, len(content), 97):
        path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        try:
            found = read_proof(package)
            assert check(package, found, trust) == ["builder", "rebuilder"], "a blank of JSON's"
            assert json.loads(path.read_bytes()).keys() >= {"payload", "signatures"}
        except (IntegrityError, VerifyError):
            pass
    path.write_bytes(content[:-40])
    with pytest.raises(IntegrityError, match="a signed statement is damaged"):
        read_proof(package)


def test_what_lies_beside_a_package_of_before_is_replaced(package: Path, signing: list[SigningKey]) -> None:
    other = Envelope.of({**make_proof(package).envelope.statement, "subject": []}).signed(signing[0])
    write_proof(package, Proof(b"{}", other))
    sign_package(package, [], NullReporter())
    found = read_proof(package)
    assert found is not None
    assert found.envelope.signatures == ()
    assert check(package, found, None) == []


def test_what_an_index_says_otherwise() -> None:
    own = {"name": "a", "version": "1", "build": "0", "build_number": 0, "depends": ["b", "c"]}
    assert find_index_differences({**own, "depends": ["c", "b"], "constrains": []}, own) == []
    assert find_index_differences({**own, "depends": ["b"]}, own) == [
        "depends: the index says ['b'], the package ['b', 'c']"
    ]


def test_keys(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    made = make_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_key(path).id == made.id
    with pytest.raises(UsageError, match="is there already"):
        make_key(path)
    path.chmod(0o644)
    with pytest.raises(UsageError, match="others may read"):
        load_key(path)
    (tmp_path / "x").write_text("nonsense", encoding="utf-8")
    (tmp_path / "x").chmod(0o600)
    with pytest.raises(UsageError, match="no key in PEM's form"):
        load_key(tmp_path / "x")
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load_key(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("keys: [{name: a, key: short}]", "no public key"),
        ("keys: [{name: a, key: KEY}, {name: b, key: KEY}]", "stands twice"),
        ("keys: [{name: a, key: KEY}]\nthreshold: 2", "it takes 1 to 1 signatures"),
        ("keys: [{name: a, key: KEY}]\nthreshold: 0", "it takes 1 to 1 signatures"),
        ("keys: []", "nobody is trusted"),
        ("threshold: 1", "nobody is trusted"),
    ],
)
def test_files_of_trust(text: str, message: str, tmp_path: Path, signing: list[SigningKey]) -> None:
    path = tmp_path / "trusted.yaml"
    path.write_text(text.replace("KEY", signing[0].public), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load_trust(path)


def test_private_keys_are_shown_nowhere(signing: list[SigningKey], tmp_path: Path) -> None:
    secret = base64.b64decode("".join((tmp_path / "0.pem").read_text(encoding="ascii").splitlines()[1:-1]))[-32:]
    shown = f"{signing[0]!r} {vars(signing[0])}"
    assert secret.hex() not in shown
    assert base64.b64encode(secret).decode() not in shown
