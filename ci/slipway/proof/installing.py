"""Whether what the solver picked is signed by those who are trusted, before any of it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slipway.base.errors import IntegrityError
from slipway.base.user_folders import cache_folder
from slipway.channel.environments import local_folder
from slipway.channel.hotfixes import apply_hotfixes
from slipway.channel.limited_access import plain_address, with_credentials
from slipway.channel.stores import find_store
from slipway.proof.channels import find_signed_catalogue, read_stored_proof
from slipway.proof.statements import check_package, find_index_differences, signed_index

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.channel.catalogue import Catalogue
    from slipway.channel.environments import Solution
    from slipway.proof.keys import Trust


def check_solution(solution: Solution, trust: Trust, *, allow_rollback: bool = False) -> int:
    """Hold every package to its statement, and to its channel's signed catalogue; how many were held.

    Those of the embedded channel are made here, from parts whose hashes this slipway holds, and have none. What an
    index says otherwise than a package (a hotfix) has to stand in a signed catalogue. A channel whose catalogue is not
    signed, and never was, is taken for what its packages prove.

    Args:
        allow_rollback: take channels that were put back to an earlier state.

    Raises:
        VerifyError: a package is not signed, or by too few.
        IntegrityError: a package, its bill, its statement or the index was changed, or its channel is an earlier state
            than this machine has seen; the message says what differs.
    """
    held = 0
    catalogues: dict[str, _SignedRecords | None] = {}
    for package, record in zip(solution.packages, solution.records, strict=True):
        folder = local_folder(package.url)
        if folder is not None and folder.is_relative_to(cache_folder() / "channels"):
            continue
        if any(package.url.startswith(f"{channel.rstrip('/')}/") for channel in trust.unsigned):
            continue
        channel, subdir, name = package.url.rsplit("/", 2)
        own = str(record.channel or channel).rstrip("/")
        if plain_address(channel) != plain_address(own):  # whose catalogue, and its number, would not be asked
            raise IntegrityError(
                f"the index sends to another place for a package: {package.url}",
                where=own,
                hint="what is signed lies in the channel itself: ask who runs it, or name the other place as a channel",
            )
        path = f"{subdir}/{name}"
        store = find_store(with_credentials(f"{channel}/").rstrip("/"))
        proof = read_stored_proof(store, path)
        check_package(name, package.sha256, proof, trust, package.url)
        assert proof is not None
        if channel not in catalogues:
            catalogue = find_signed_catalogue(store, trust, allow_rollback=allow_rollback)
            catalogues[channel] = _SignedRecords.of(catalogue) if catalogue is not None else None
        said = signed_index(proof.envelope)
        told = {
            "name": package.name,
            "version": package.version,
            "build": package.build,
            "build_number": record.build_number,
            "depends": list(record.depends),
            "constrains": list(record.constrains),
        }
        signed = catalogues[channel]
        expected = said if signed is None else signed.find(path, package.sha256, said, package.url)
        if found := find_index_differences(told, expected):
            raise IntegrityError(
                f"the index says something else than was signed: {'; '.join(found)}", where=package.url
            )
        held += 1
    return held


@dataclass(frozen=True)
class _SignedRecords:
    """What a signed catalogue says of its packages, by path: before hotfixes, and as its indexes tell it."""

    own: Mapping[str, Mapping[str, Any]]
    told: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, catalogue: Catalogue) -> _SignedRecords:
        own = {path: one.record for path, one in catalogue.packages.items()}
        return cls(own, apply_hotfixes(catalogue.hotfixes, own))

    def find(self, path: str, sha256: str, own: Mapping[str, Any], where: str) -> Mapping[str, Any]:
        """What the channel's indexes have to say of a package, which says `own` of itself.

        Raises:
            IntegrityError: the catalogue does not have it, or says something else.
        """
        known = self.own.get(path)
        if known is None or known.get("sha256") != sha256:
            raise IntegrityError(
                "the index names a package that the signed catalogue does not have",
                where=where,
                hint="it was taken out of the channel, or the index is of before, or of somebody else",
            )
        if found := find_index_differences(known, own):
            raise IntegrityError(f"the signed catalogue is not what the package says: {'; '.join(found)}", where=where)
        return self.told[path]
