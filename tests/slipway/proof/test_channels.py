"""A signed channel: published, verified, installed from; and every kind of tampering."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError, IntegrityError, VerifyError
from slipway.base.log import NullReporter
from slipway.channel.environments import solve
from slipway.channel.hotfixes import Hotfix
from slipway.channel.publishing import carry_out, make_plan, prepare
from slipway.channel.stores import find_store, open_store
from slipway.cli import main
from slipway.proof.channels import add_proof, check_channel, refuse_stale_signature, sign_channel
from slipway.proof.installing import check_solution
from slipway.proof.statements import make_proof

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.proof.keys import SigningKey, Trust
    from slipway.proof.statements import Proof


def publish(folder: Path, package: Path, signing: list[SigningKey], hotfixes: tuple[Hotfix, ...] | None = None) -> None:
    wanted = prepare([("linux-64", package)], hotfixes)
    proof = make_proof(package)
    envelope = proof.envelope
    for key in signing:
        envelope = envelope.signed(key)
    signed: Proof = type(proof)(proof.bill, envelope)
    with open_store(str(folder)) as store:
        carry_out(
            store,
            lambda known: make_plan(store.address, known, wanted),
            NullReporter(),
            on_upload=lambda path: add_proof(store, path, signed),
        )
        for key in signing:
            sign_channel(store, key)


@pytest.fixture
def channel(tmp_path: Path, package: Path, signing: list[SigningKey]) -> Path:
    """A channel that both have signed."""
    publish(tmp_path / "ch", package, signing[:2])
    return tmp_path / "ch"


def check(channel: Path, trust: Trust) -> int:
    return check_channel(find_store(str(channel)), trust, contents=True).packages


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def plant(path: Path) -> None:
    """An index that some solver reads before the channel's own."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"{}")


def test_signed_channel(channel: Path, trust: Trust) -> None:
    assert check(channel, trust) == 1
    solution = solve(["libtoy"], [channel.as_uri()])
    assert check_solution(solution, trust) == 1


def test_tampering(channel: Path, trust: Trust, package: Path) -> None:
    path = channel / "linux-64" / package.name
    changes = {
        "the package has the sha256": lambda: path.write_bytes(path.read_bytes() + b"x"),
        "cdx.json` has the sha256": lambda: edit(path.with_name(f"{path.name}.cdx.json"), "CycloneDX", "Cyclone"),
        "a signed statement is damaged": lambda: path.with_name(f"{path.name}.intoto.json").write_bytes(b"{"),
        "nobody has signed for this package": lambda: path.with_name(f"{path.name}.intoto.json").unlink(),
        "packages.conda / .* / version": lambda: edit(channel / "linux-64/repodata.json", '"1.0"', '"1.1"'),
        "run_exports.json|is not there": lambda: (channel / "linux-64/run_exports.json").unlink(),
        "`catalogue.json` has the sha256": lambda: edit(channel / "catalogue.json", '"1.0"', '"1.1"'),
        "does not give": lambda: plant(channel / "linux-64/current_repodata.json"),
        "catalogue does not give": lambda: plant(channel / "linux-aarch64/repodata.json.zst"),
        "nobody has signed for this channel": lambda: (channel / "catalogue.json.intoto.json").unlink(),
    }
    for message, change in changes.items():
        whole = shutil.copytree(channel, channel.with_name("whole"))
        change()
        with pytest.raises((IntegrityError, VerifyError), match=message):
            check(channel, trust)
        shutil.rmtree(channel)
        whole.rename(channel)
    assert check(channel, trust) == 1


def test_index_with_other_requirements_is_not_installed_from(channel: Path, trust: Trust) -> None:
    index = channel / "linux-64/repodata.json"
    document = json.loads(index.read_bytes())
    (record,) = document["packages.conda"].values()
    record["constrains"] = ["evil"]
    index.write_text(json.dumps(document), encoding="utf-8")
    (channel / "linux-64/repodata.json.zst").unlink()
    for shards in channel.glob("*/repodata_shards*"):
        shards.unlink()
    with pytest.raises(IntegrityError, match=r"constrains: the index says \['evil'\], the package \[\]"):
        check_solution(solve(["libtoy"], [channel.as_uri()]), trust)


def test_signed_hotfix_is_taken(tmp_path: Path, package: Path, signing: list[SigningKey], trust: Trust) -> None:
    publish(tmp_path / "ch", package, signing[:2], (Hotfix("libtoy", "why", constrains=("zsh >5",)),))
    assert check_solution(solve(["libtoy"], [(tmp_path / "ch").as_uri()]), trust) == 1


def test_too_few_signatures_and_trusted_channels(
    tmp_path: Path, package: Path, signing: list[SigningKey], trust: Trust
) -> None:
    publish(tmp_path / "ch", package, signing[:1])
    solution = solve(["libtoy"], [(tmp_path / "ch").as_uri()])
    with pytest.raises(VerifyError, match="only builder"):
        check_solution(solution, trust)
    with pytest.raises(VerifyError, match="only builder"):
        check(tmp_path / "ch", trust)
    lenient = type(trust)(trust.keys, 2, unsigned=((tmp_path / "ch").as_uri(),))
    assert check_solution(solution, lenient) == 0
    beginning = type(trust)(trust.keys, 2, unsigned=((tmp_path / "c").as_uri(),))
    with pytest.raises(VerifyError, match="only builder"):  # another channel, whose address begins like that one
        check_solution(solution, beginning)


def test_signed_channel_is_not_changed_unsigned(channel: Path) -> None:
    with pytest.raises(ChannelError, match="the channel is signed"), open_store(str(channel)) as store:
        refuse_stale_signature(store)


def test_commands(package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A key is made, a channel is published and signed, verified, and not changed without the key."""
    key, trusted, channel = tmp_path / "k.pem", tmp_path / "trusted.yaml", tmp_path / "published"
    assert main(["attest", "--new-key", str(key)]) == 0
    public = capsys.readouterr().out.split()[-1]
    trusted.write_text(f"keys: [{{name: me, key: {public}}}]\n", encoding="utf-8")
    assert main(["publish", "--to", str(channel), "--key", str(key), str(package)]) == 0
    assert main(["channel", "verify", str(channel), "--keys", str(trusted), "--contents"]) == 0
    assert main(["publish", "--to", str(channel), str(package)]) == 0, "nothing changes"
    other = make_other(package, tmp_path)
    assert main(["publish", "--to", str(channel), str(other)]) == ChannelError.exit_code
    assert main(["publish", "--to", str(channel), "--key", str(key), str(other)]) == 0
    assert main(["channel", "prune", str(channel), "--keep", "1", "--key", str(key)]) == 0
    assert main(["channel", "verify", str(channel), "--keys", str(trusted), "--contents"]) == 0
    assert not list(channel.glob("linux-64/libtoy-1.0-*")), "its bill and its statement went with it"
    assert main(["attest", str(package), "--key", str(key)]) == 0
    assert main(["verify", "--alone", "--keys", str(trusted), str(package)]) in (0, VerifyError.exit_code)
    capsys.readouterr()
    edit(package.with_name(f"{package.name}.cdx.json"), "CycloneDX", "Cyclone")
    assert main(["verify", "--alone", "--keys", str(trusted), str(package)]) == IntegrityError.exit_code
    assert "cdx.json` has the sha256" in capsys.readouterr().err


def make_other(package: Path, tmp_path: Path) -> Path:
    """The same package with a higher version."""
    import io
    import tarfile
    import zipfile

    import zstandard

    path = tmp_path / package.name.replace("-1.0-", "-1.1-")
    with zipfile.ZipFile(package) as archive, zipfile.ZipFile(path, "w") as written:
        for entry in archive.namelist():
            content = archive.read(entry)
            if entry.startswith("info-"):
                plain = zstandard.ZstdDecompressor().decompressobj().decompress(content)
                target = io.BytesIO()
                with tarfile.open(fileobj=io.BytesIO(plain)) as old, tarfile.open(fileobj=target, mode="w") as new:
                    for member in old:
                        data = old.extractfile(member)
                        found = data.read() if data is not None else b""
                        if member.name == "info/index.json":
                            found = json.dumps({**json.loads(found), "version": "1.1"}).encode()
                            member.size = len(found)
                        new.addfile(member, io.BytesIO(found))
                content = zstandard.ZstdCompressor().compress(target.getvalue())
            written.writestr(entry.replace("-1.0-", "-1.1-"), content)
    return path
