"""A signed channel: published, verified, installed from; and every kind of tampering."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError, IntegrityError, VerifyError
from slipway.base.log import NullReporter
from slipway.base.user_folders import state_folder
from slipway.channel.catalogue import ChannelState
from slipway.channel.environments import solve
from slipway.channel.hotfixes import Hotfix
from slipway.channel.publishing import carry_out, make_plan, plan_removal, prepare, read_catalogue
from slipway.channel.stores import find_store, open_store
from slipway.cli import main
from slipway.proof.channels import add_proof, check_change, check_channel, sign_channel
from slipway.proof.installing import check_solution
from slipway.proof.seen import remember_state, seen_state
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
        check_change(store, read_catalogue(store)[0], signed=False)


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


@pytest.fixture
def put_back(tmp_path: Path, package: Path, signing: list[SigningKey], channel: Path, trust: Trust) -> Path:
    """A channel that was seen with two packages, and is served as it was before, with its signatures of then."""
    before = shutil.copytree(channel, tmp_path / "before")
    publish(channel, make_other(package, tmp_path), signing[:2])
    assert check_solution(solve(["libtoy"], [channel.as_uri()]), trust) == 1
    shutil.rmtree(channel)
    return before.rename(channel)


def test_earlier_state_is_refused(put_back: Path, trust: Trust) -> None:
    solution = solve(["libtoy"], [put_back.as_uri()])
    with pytest.raises(IntegrityError, match="has the number 1, and 2 was seen here before"):
        check_solution(solution, trust)
    with pytest.raises(IntegrityError, match="an earlier state of itself"):
        check(put_back, trust)
    assert check_solution(solution, trust, allow_rollback=True) == 1
    assert check(put_back, trust) == 1, "whoever takes it once goes on from there"


def test_another_channel_of_the_same_keys_is_refused(
    channel: Path, package: Path, signing: list[SigningKey], trust: Trust, tmp_path: Path
) -> None:
    """What its publishers signed for their nightly builds is not what they signed for the stable ones."""
    assert check(channel, trust) == 1
    nightly = tmp_path / "nightly"
    other = make_other(package, tmp_path)
    for one in (package, other):
        publish(nightly, one, signing[:2])
    assert check(nightly, trust) == 2
    shutil.rmtree(channel)
    nightly.rename(channel)
    with pytest.raises(IntegrityError, match="another one than was seen here before") as caught:
        check(channel, trust)
    assert caught.value.where == f"{channel.as_uri()}/catalogue.json"
    with pytest.raises(IntegrityError, match="another one than was seen here before"):
        check_solution(solve(["libtoy"], [channel.as_uri()]), trust)
    with pytest.raises(IntegrityError, match="another one than was seen here before"):
        publish(channel, other, signing[:2])


def test_earlier_state_is_not_signed_anew(put_back: Path, signing: list[SigningKey]) -> None:
    """Else a publisher's next package would make it look like today's."""
    with open_store(str(put_back)) as store:
        with pytest.raises(IntegrityError, match="an earlier state of itself"):
            check_change(store, read_catalogue(store)[0], signed=True)
        with pytest.raises(IntegrityError, match="an earlier state of itself"):
            sign_channel(store, signing[0])


@pytest.mark.parametrize("without", ["catalogue.json", "catalogue.json.intoto.json"])
def test_channel_that_was_signed_has_to_stay_so(channel: Path, trust: Trust, without: str) -> None:
    """The fixture's keys have signed it, and this machine has seen that; an unsigned one is not taken for it."""
    solution = solve(["libtoy"], [channel.as_uri()])
    (channel / without).unlink()
    with pytest.raises(VerifyError, match="nobody has signed for this channel"):
        check_solution(solution, trust)


def test_channel_that_nobody_saw_signed_is_taken_for_its_packages(
    channel: Path, trust: Trust, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another-machine"))
    (channel / "catalogue.json.intoto.json").unlink()
    assert check_solution(solve(["libtoy"], [channel.as_uri()]), trust) == 1


def test_index_of_before_beside_the_catalogue_of_today(channel: Path, signing: list[SigningKey], trust: Trust) -> None:
    """The package was taken out; it is signed still, and an index that names it is not of this catalogue."""
    solution = solve(["libtoy"], [channel.as_uri()])
    with open_store(str(channel)) as store:
        (path,) = read_catalogue(store)[0].packages
        kept = {name: (channel / name).read_bytes() for name in (path, f"{path}.intoto.json", f"{path}.cdx.json")}
        carry_out(store, lambda known: plan_removal(store.address, known, [path]), NullReporter())
        for key in signing[:2]:
            sign_channel(store, key)
    for name, content in kept.items():
        (channel / name).write_bytes(content)
    with pytest.raises(IntegrityError, match="a package that the signed catalogue does not have"):
        check_solution(solution, trust)


@pytest.mark.parametrize("place", ["elsewhere", "../../elsewhere"])
def test_index_that_sends_elsewhere(channel: Path, signing: list[SigningKey], trust: Trust, place: str) -> None:
    """A package that was taken out lies elsewhere with its proof, and no catalogue; the index of today sends there."""
    other = channel.with_name("elsewhere") / "linux-64"
    shutil.copytree(channel / "linux-64", other)
    index = channel / "linux-64/repodata.json"
    document = json.loads(index.read_bytes())
    with open_store(str(channel)) as store:
        carry_out(store, lambda known: plan_removal(store.address, known, list(known.packages)), NullReporter())
        for key in signing[:2]:
            sign_channel(store, key)
    document["info"]["base_url"] = f"{other.as_uri()}/" if place == "elsewhere" else "../../elsewhere/linux-64/"
    index.write_text(json.dumps(document), encoding="utf-8")
    index.with_name("repodata.json.zst").unlink()
    for shards in channel.glob("*/repodata_shards*"):
        shards.unlink()
    with pytest.raises(IntegrityError, match=r"sends to another place for a package: .*elsewhere/linux-64") as caught:
        check_solution(solve(["libtoy"], [channel.as_uri()]), trust)
    assert caught.value.where == channel.as_uri()


def test_what_was_seen_holds_no_secrets() -> None:
    """A token may stand in the address; with another one, it is the same channel."""
    remember_state("https://example.org/t/atokenofmine/ch", ChannelState(7, "a"))
    assert seen_state("https://ada:s3cretword@example.org/ch") == ChannelState(7, "a")
    remember_state("https://example.org/t/atokenofmine", ChannelState(3, "b"))
    assert seen_state("https://example.org") == ChannelState(3, "b")
    text = (state_folder() / "seen-channels.json").read_text(encoding="utf-8")
    assert "https://example.org/ch" in text
    assert "atokenofmine" not in text


def test_rollback_commands(package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, trusted, channel = tmp_path / "k.pem", tmp_path / "trusted.yaml", tmp_path / "published"
    assert main(["attest", "--new-key", str(key)]) == 0
    trusted.write_text(f"keys: [{{name: me, key: {capsys.readouterr().out.split()[-1]}}}]\n", encoding="utf-8")
    assert main(["publish", "--to", str(channel), "--key", str(key), str(package)]) == 0
    before = shutil.copytree(channel, tmp_path / "before")
    other = make_other(package, tmp_path)
    assert main(["publish", "--to", str(channel), "--key", str(key), str(other)]) == 0
    shutil.rmtree(channel)
    before.rename(channel)
    verify = ["channel", "verify", str(channel), "--keys", str(trusted)]
    assert main(verify) == IntegrityError.exit_code
    assert main(["publish", "--to", str(channel), "--key", str(key), str(other)]) == IntegrityError.exit_code
    assert "an earlier state of itself" in capsys.readouterr().err
    assert main([*verify, "--allow-rollback"]) == 0
    assert main(["publish", "--to", str(channel), "--key", str(key), str(other)]) == 0
    assert main(verify) == 0
    shutil.rmtree(channel)
    assert main(["publish", "--to", str(channel), "--key", str(key), str(other)]) == 0
    assert main(verify) == 0


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
