"""A package's bill of materials, in CycloneDX's form: what it was built with, from which sources, and what it links.

All of it is read from the package. So the same package has the same bill, wherever and whenever it is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from slipway.channel.package_writer import to_json
from slipway.verify.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from slipway.pipeline.manifest import Manifest


def make_bill(package: Path, manifest: Manifest | None) -> bytes:
    """The bill of a package.

    Args:
        manifest: what it says that it was made from; None for one that does not say.

    Raises:
        IntegrityError: it cannot be read.
    """
    found = Verifier().facts(package)
    index = found.index
    reference = package_url(index["name"], str(index["version"]), index["build"], str(index["subdir"]))
    linked = sorted({name for file in found.files if file.elf is not None for name in file.elf.needed})
    needed = [{"name": "conda:depends", "value": spec} for spec in index.get("depends", [])]
    return to_json(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "component": {
                    "type": "library",
                    "bom-ref": reference,
                    "name": index["name"],
                    "version": str(index["version"]),
                    "purl": reference,
                    "hashes": [{"alg": "SHA-256", "content": found.sha256}],
                    "licenses": [{"expression": index["license"]}] if index.get("license") else [],
                    "properties": [*needed, *({"name": "elf:needed", "value": name} for name in linked)],
                }
            },
            "components": [*_environments(manifest), *_sources(manifest)] if manifest is not None else [],
        }
    )


def package_url(name: str, version: str, build: str, subdir: str = "") -> str:
    """A conda package's address in the form of package URLs."""
    where = f"&subdir={quote(subdir)}" if subdir else ""
    return f"pkg:conda/{quote(name)}@{quote(version)}?build={quote(build)}{where}"


def _environments(manifest: Manifest) -> Iterator[dict[str, Any]]:
    """The locked packages; those of the host may be part of what was built, the others built it."""
    for environment, packages in sorted(manifest.environments.items()):
        for name, (version, build, sha256) in sorted(packages.items()):
            reference = package_url(name, version, build)
            yield {
                "type": "library" if environment.endswith("host") else "application",
                "bom-ref": f"{environment}:{reference}",
                "name": name,
                "version": version,
                "purl": reference,
                "scope": "required" if environment.endswith("host") else "excluded",
                "hashes": [{"alg": "SHA-256", "content": sha256}],
                "properties": [{"name": "slipway:environment", "value": environment}],
            }


def _sources(manifest: Manifest) -> Iterator[dict[str, Any]]:
    for number, entry in enumerate(manifest.sources):
        files: Mapping[str, str] = entry.get("files", {})
        told = {key: value for key, value in entry.items() if isinstance(value, str) and value}
        if entry.get("git"):
            told |= {"git_url": entry["git"][0] or "", "git_rev": entry["git"][1] or ""}
        yield {
            "type": "file",
            "bom-ref": f"source:{number}",
            "name": told.get("url") or told.get("git_url") or told.get("path") or f"source {number}",
            "hashes": [{"alg": "SHA-256", "content": told["sha256"]}] if "sha256" in told else [],
            "properties": [{"name": f"slipway:{key}", "value": value} for key, value in sorted(told.items()) if value],
            "components": [
                {"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": known.split(":")[1]}]}
                for name, known in sorted({**files, **entry.get("patches", {})}.items())
            ],
        }
