"""Whether what the solver picked is signed by those who are trusted, before any of it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.errors import IntegrityError
from slipway.base.paths import cache_folder
from slipway.channel.environments import local_folder
from slipway.channel.hotfixes import apply_hotfixes
from slipway.channel.limited_access import with_credentials
from slipway.channel.stores import find_store
from slipway.proof.channels import read_signed_catalogue, read_stored_proof
from slipway.proof.statements import check_package, find_index_differences, signed_index

if TYPE_CHECKING:
    from slipway.channel.environments import Solution
    from slipway.proof.keys import Trust


def check_solution(solution: Solution, trust: Trust) -> int:
    """Hold every package to its statement; how many were held.

    Those of the embedded channel are made here, from parts whose hashes this slipway holds, and have none. What an
    index says otherwise than a package (a hotfix) has to stand in a signed catalogue.

    Raises:
        VerifyError: a package is not signed, or by too few.
        IntegrityError: a package, its bill, its statement or the index was changed; the message says what differs.
    """
    held = 0
    for package, record in zip(solution.packages, solution.records, strict=True):
        folder = local_folder(package.url)
        if folder is not None and folder.is_relative_to(cache_folder() / "channels"):
            continue
        if any(package.url.startswith(f"{channel.rstrip('/')}/") for channel in trust.unsigned):
            continue
        channel, subdir, name = package.url.rsplit("/", 2)
        path = f"{subdir}/{name}"
        store = find_store(with_credentials(f"{channel}/").rstrip("/"))
        proof = read_stored_proof(store, path)
        check_package(name, package.sha256, proof, trust, package.url)
        assert proof is not None
        told = {
            "name": package.name,
            "version": package.version,
            "build": package.build,
            "build_number": record.build_number,
            "depends": list(record.depends),
            "constrains": list(record.constrains),
        }
        own = signed_index(proof.envelope)
        if find_index_differences(told, own):
            catalogue, _ = read_signed_catalogue(store, trust)
            patched = apply_hotfixes(catalogue.hotfixes, {path: {**own, "subdir": subdir}})[path]
            if found := find_index_differences(told, patched):
                raise IntegrityError(
                    f"the index says something else than was signed: {'; '.join(found)}", where=package.url
                )
        held += 1
    return held
