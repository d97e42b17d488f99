"""Bundles as files: the same bytes from the same content, and none that was damaged is taken."""

from __future__ import annotations

import io
import json
import os
import random
import tarfile
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import IntegrityError, RecipeError, UsageError
from slipway.base.paths import Workspace
from slipway.model import RenderedOutput, Requirements, RunExports, Source
from slipway.pipeline.bundle import REQUEST, open_bundle, place_sources
from slipway.pipeline.bundle_archive import pack_files

if TYPE_CHECKING:
    from pathlib import Path

FACTS = {
    "recipe": "checkout/recipe",
    "folders": ["checkout/empty"],
    "asked": {"python": "3.11"},
    "channels": None,
    "variants": None,
    "below": [],
    "above": [],
    "pinned": [],
}


def make_members(folder: Path) -> dict[str, Path]:
    """Files of every kind: text, a program, a link, names that are long or of other alphabets, an empty one."""
    long = "d" * 80 + "/" + "e" * 90
    contents = {
        REQUEST: json.dumps(FACTS),
        "checkout/recipe/build.sh": "echo built\n",
        "checkout/recipe/empty.txt": "",
        f"checkout/{long}": "far",
        "checkout/Größe/文.txt": "one",
        "channel/noarch/repodata.json": "{}",
    }
    members = {}
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        members[name] = path
    members["checkout/recipe/build.sh"].chmod(0o700)
    link = folder / "checkout/recipe/link"
    link.symlink_to("build.sh")
    os.link(members["checkout/recipe/build.sh"], folder / "second")
    return members | {"checkout/recipe/link": link, "checkout/recipe/second": folder / "second"}


def read(path: Path, tmp_path: Path) -> dict[str, str]:
    """What `open_bundle` gives of the bundle's request and checkout."""
    with open_bundle(path, Workspace(tmp_path / "dist"), {"XDG_CACHE_HOME": str(tmp_path / "cache")}) as bundle:
        assert bundle.request.asked == {"python": "3.11"}
        assert bundle.request.offline
        assert (bundle.request.recipe.parent / "empty").is_dir()
        root = bundle.request.recipe.parents[1]
        found = {}
        for file in sorted(file for file in root.rglob("*") if file.is_symlink() or file.is_file()):
            content = str(file.readlink()) if file.is_symlink() else file.read_text(encoding="utf-8")
            found[str(file.relative_to(root))] = f"{os.access(file, os.X_OK)} {content}"
        return found


def test_same_content_same_bytes(tmp_path: Path) -> None:
    packed = []
    for name in ("one", "two"):
        members = make_members(tmp_path / name)
        os.utime(members[REQUEST], (1_000_000_000, 1_000_000_000))
        pack_files(tmp_path / f"{name}.bundle", dict(sorted(members.items(), reverse=name == "two")))
        packed.append((tmp_path / f"{name}.bundle").read_bytes())
    assert packed[0] == packed[1]
    found = read(tmp_path / "one.bundle", tmp_path)
    assert found["checkout/recipe/build.sh"] == found["checkout/recipe/second"] == "True echo built\n"
    assert found["checkout/recipe/link"] == "True build.sh"
    assert found["checkout/recipe/empty.txt"] == "False "
    assert str(tmp_path).encode() not in packed[0]


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_bundle_is_refused_or_gives_the_same(tmp_path: Path, seed: int) -> None:
    """Flipped, cut, doubled, shifted and foreign bytes: nothing else than what was put there ever comes out."""
    whole, damaged = tmp_path / "whole", tmp_path / "damaged"
    pack_files(whole, make_members(tmp_path / "made"))
    good, content = read(whole, tmp_path), whole.read_bytes()
    generator = random.Random(seed)
    refused = []
    for number in range(40):
        at = generator.randrange(len(content))
        changed = {
            0: lambda at: content[:at] + bytes([content[at] ^ 1 << generator.randrange(8)]) + content[at + 1 :],
            1: lambda at: content[:at],
            2: lambda at: content[:at] + content[at - at % 512 :],
            3: lambda at: content[:at] + generator.randbytes(40) + content[at + 40 :],
            4: lambda at: content[: at - at % 512] + content[at - at % 512 + 512 :],
        }[number % 5](at)
        damaged.write_bytes(changed)
        try:
            assert read(damaged, tmp_path) == good
        except IntegrityError as error:
            refused.append(error.where)
    assert len(refused) > 5, "others hit padding, or nothing"
    assert set(refused) == {str(damaged)}


def entry(name: str, **values: object) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    for key, value in values.items():
        setattr(member, key, value)
    return member


HOLES = {
    "GNU.sparse.major": "1",
    "GNU.sparse.minor": "0",
    "GNU.sparse.name": "channel/huge",
    "GNU.sparse.realsize": "1",
}
HUGE = b"1\n%d\n0\n" % (1 << 40)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([(entry("../outside", size=1), b"x")], "outside the destination"),
        ([(entry("/outside", size=1), b"x")], "does not belong there"),
        ([(entry("link", type=tarfile.SYMTYPE, linkname="../outside"), b"")], "outside the destination"),
        ([(entry("hard", type=tarfile.LNKTYPE, linkname="bundle.json"), b"")], "`hard` is neither a file nor a link"),
        ([(entry("pipe", type=tarfile.FIFOTYPE), b"")], "`pipe` is neither a file nor a link"),
        ([(entry("disk", type=tarfile.BLKTYPE), b"")], "`disk` is neither a file nor a link"),
        ([(entry("channel/huge", size=512, pax_headers=HOLES), HUGE.ljust(512, b"\0"))], "`channel/huge` is neither"),
    ],
)
def test_hostile_members(tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]], message: str) -> None:
    """A terabyte of holes takes neither room nor time."""
    path, outside = tmp_path / "bundle", tmp_path / "outside"
    pack_files(path, make_members(tmp_path / "made"))
    with tarfile.open(path, "a", format=tarfile.PAX_FORMAT) as archive:
        for member, content in members:
            archive.addfile(member, io.BytesIO(content))
    with pytest.raises(IntegrityError, match=message):
        read(path, tmp_path)
    assert not outside.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"recipe": "../../outside"},
        {"recipe": 1},
        {"folders": ["/outside"]},
        {"folders": "checkout"},
        {"below": ["../outside.yaml"]},
        {"above": ["/etc/passwd"]},
        {"pinned": [[{"git_url": "x"}, {"git_url": "x", "git_commit": "../../outside"}]]},
        {"pinned": [[{"url": "x"}, {"url": "x", "sha256": "/outside"}]]},
        {"pinned": [[{"url": "x"}]]},
        {"surprise": True},
    ],
)
def test_requests_that_nobody_wrote(tmp_path: Path, change: dict[str, object]) -> None:
    """The list of contents fits: whoever edits a bundle can write that as well."""
    members = make_members(tmp_path / "made")
    members[REQUEST].write_text(json.dumps(FACTS | change), encoding="utf-8")
    pack_files(tmp_path / "bundle", members)
    with pytest.raises(IntegrityError, match=r"the bundle's request\.json is none of slipway's"):
        read(tmp_path / "bundle", tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a tar archive", bytes(10240)])
def test_what_is_no_bundle(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bundle"
    path.write_bytes(content)
    with pytest.raises(IntegrityError, match="the bundle is damaged"):
        read(path, tmp_path)


def test_no_such_bundle_and_one_of_another_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="there is no such bundle"):
        read(tmp_path / "none", tmp_path)
    with pytest.raises(UsageError, match="there is no such bundle"):
        read(tmp_path, tmp_path)
    monkeypatch.setattr("slipway.pipeline.bundle_archive.FORMAT", 99)
    pack_files(tmp_path / "bundle", make_members(tmp_path / "made"))
    monkeypatch.undo()
    with pytest.raises(IntegrityError, match="has format 99"):
        read(tmp_path / "bundle", tmp_path)


def make_output(recipe: Path, source: str) -> RenderedOutput:
    return RenderedOutput(
        "toy", "1", "0", 0, "noarch", None, {}, {}, Requirements(), RunExports(), recipe, (Source(path=source),)
    )


def test_sources_lie_in_a_bundle_as_they_lay_to_the_recipe(tmp_path: Path) -> None:
    recipe, shared = tmp_path / "a" / "recipe", tmp_path / "shared"
    for folder in (recipe, shared / "inner"):
        folder.mkdir(parents=True)
        (folder / "x.txt").write_text("x", encoding="utf-8")
    (tmp_path / "a" / "linked").symlink_to(shared)
    outputs = [make_output(recipe, source) for source in ("../linked/inner", "../../shared/inner/x.txt")]
    files, checkout = place_sources(outputs)
    assert sorted(files) == [
        "checkout/a/linked/inner/x.txt",
        "checkout/a/recipe/x.txt",
        "checkout/shared/inner/x.txt",
    ]
    assert (checkout.recipe, checkout.folders) == ("checkout/a/recipe", ["checkout/a/linked/inner"])
    with pytest.raises(RecipeError, match="is an absolute place"):
        place_sources([make_output(recipe, str(shared))])


def files(path: Path, tmp_path: Path) -> dict[str, str]:
    """What `open_bundle` gives, without the list of contents."""
    return {name: content for name, content in read(path, tmp_path).items() if name != "bundle.json"}


def test_bundle_since_an_earlier_one(tmp_path: Path) -> None:
    members = make_members(tmp_path / "made")
    big = tmp_path / "made/channel/noarch/big.conda"
    big.write_text("".join(random.Random(5).choices("abcdef", k=200_000)), encoding="utf-8")
    members["channel/noarch/big.conda"] = big
    first, second, third = (tmp_path / f"{number}.bundle" for number in range(3))
    pack_files(first, members)
    new = tmp_path / "made/new.txt"
    new.write_text("new", encoding="utf-8")
    later = {**members, "checkout/recipe/new.txt": new, "channel/noarch/moved.conda": big}
    del later["channel/noarch/big.conda"]
    pack_files(second, later, first)
    pack_files(third, {**later, "checkout/recipe/newer.txt": new}, second)
    assert second.stat().st_size < 20_000 < 200_000 < first.stat().st_size
    whole = tmp_path / "whole.bundle"
    pack_files(whole, {**later, "checkout/recipe/newer.txt": new})
    assert files(third, tmp_path) == files(whole, tmp_path)


def test_bundle_without_its_earlier_one(tmp_path: Path) -> None:
    members = make_members(tmp_path / "made")
    first, second = tmp_path / "first.bundle", tmp_path / "second.bundle"
    pack_files(first, members)
    pack_files(second, members, first)
    content = first.read_bytes()
    first.unlink()
    with pytest.raises(UsageError, match=r"the bundle needs an earlier one, first\.bundle"):
        read(second, tmp_path)
    pack_files(first, {**members, "checkout/recipe/x": members[REQUEST]})
    with pytest.raises(IntegrityError, match=r"another bundle is called first\.bundle"):
        read(second, tmp_path)
    first.write_bytes(content[:-2000] + bytes(1) + content[-1999:] if content[-2000] else content[: len(content) // 2])
    with pytest.raises(IntegrityError, match="the bundle is damaged"):
        read(second, tmp_path)
    first.write_bytes(content)
    with tarfile.open(second) as archive:
        head = archive.extractfile("bundle.json")
        assert head is not None
        listing = json.loads(head.read())
    listing["files"]["../../outside"] = listing["files"][REQUEST]
    edited = json.dumps(listing).encode()
    with tarfile.open(tmp_path / "evil.bundle", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(entry("bundle.json", size=len(edited)), io.BytesIO(edited))
    with pytest.raises(IntegrityError, match="leads out of it"):
        read(tmp_path / "evil.bundle", tmp_path)
    assert files(second, tmp_path) == files(first, tmp_path)
