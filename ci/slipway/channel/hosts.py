"""Servers that keep channels and index them themselves; rattler-build uploads to them.

    prefix://HOST/CHANNEL   quetz://HOST/CHANNEL   artifactory://HOST/CHANNEL   anaconda://HOST/OWNER[/LABEL]

Such a server takes one package after the other, so what depends on others comes after them. The token is in a variable
(`TOKENS`) or in rattler's file of credentials.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from rattler_build import upload

from slipway.base.errors import NetworkError, UsageError
from slipway.base.secrets import remember_secret
from slipway.channel.catalogue import Catalogue, CataloguedPackage
from slipway.channel.credentials import CREDENTIALS
from slipway.channel.environments import offered
from slipway.channel.package import package_name
from slipway.channel.publishing import PublishPlan, ToPublish, make_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.base.log import Reporter

Kind = Literal["prefix", "quetz", "artifactory", "anaconda"]

TOKENS: Mapping[Kind, str] = {
    "prefix": "PREFIX_API_KEY",
    "quetz": "QUETZ_API_KEY",
    "artifactory": "ARTIFACTORY_TOKEN",
    "anaconda": "ANACONDA_API_KEY",
}
"""The variable with the token, by the kind of server."""

_INDEXES: Mapping[Kind, str] = {
    "prefix": "{server}/{channel}",
    "quetz": "{server}/get/{channel}",
    "artifactory": "{server}/artifactory/{channel}",
    "anaconda": "{server}/{channel}",
}
"""Where the index of a channel is read, by the kind of server."""

NO_INDEX = "none"
"""What `index` is for a channel that nobody has published to."""


@dataclass(frozen=True)
class HostedChannel:
    """A channel on such a server.

    Attributes:
        address: as it was given.
        server: the address that is spoken to.
        channel: its name; of anaconda's kind, the owner's.
        label: of anaconda's kind.
        index: the address where its index is read.
    """

    address: str
    kind: Kind
    server: str
    channel: str
    label: str
    index: str

    @classmethod
    def parse(cls, address: str, index: str | None = None) -> HostedChannel:
        """The channel at an address; ``quetz+http://`` is for servers without TLS.

        Raises:
            UsageError: it names none.
        """
        parts = urlsplit(address)
        name, _, transport = parts.scheme.lower().partition("+")
        kind = next((one for one in TOKENS if one == name), None)
        channel, _, label = parts.path.strip("/").partition("/")
        if kind is None or transport not in ("", "http") or not parts.netloc or not channel:
            hint = f"{name}://HOST/CHANNEL" if kind else f"known: {', '.join(TOKENS)}"
            raise UsageError("the address names no channel of a server", where=address, hint=hint)
        server = f"{transport or 'https'}://{parts.netloc}"
        guessed = _INDEXES[kind].format(server=server, channel=channel)
        return cls(address, kind, server, channel, label, index or guessed)

    def plan(self, wanted: ToPublish) -> PublishPlan:
        """What has to be uploaded.

        Raises:
            ChannelError: another package of a name is there.
            NetworkError: the channel's index cannot be read.
        """
        names = sorted({package_name(path) for path in wanted.files.values()})
        try:
            known = offered(names, self.index) if self.index != NO_INDEX else []
        except NetworkError as error:
            hint = f"--index ADDRESS says where it is read; --index {NO_INDEX}, that it is still empty"
            raise NetworkError(error.message, where=self.index, hint=hint) from error
        there = {f"{one.subdir}/{one.url.rpartition('/')[2]}": one.sha256 for one in known}
        packages = {path: CataloguedPackage({"sha256": sha256}) for path, sha256 in there.items()}
        return make_plan(self.address, Catalogue(packages), wanted)

    def carry_out(self, plan: PublishPlan, reporter: Reporter) -> None:
        """Upload what is to be added, what is needed before what needs it.

        Raises:
            NetworkError: the server did not take a package; those before it are there.
        """
        token = os.environ.get(TOKENS[self.kind])
        remember_secret(token or "", TOKENS[self.kind])
        file = None if token else _credentials_file(self.kind)
        for name in order_by_dependencies(plan):
            with reporter.step(f"upload {name}"):
                try:
                    self._upload(str(plan.added[name]), token, file)
                except Exception as error:  # rattler-build has one type for all
                    raise NetworkError(
                        f"the server did not take the package: {error}",
                        where=f"{self.address} {name}",
                        hint="what was uploaded before it is there; run the same command again, it goes on. "
                        f"Is the token in {TOKENS[self.kind]} still good?",
                    ) from error

    def _upload(self, path: str, token: str | None, file: Path | None) -> None:
        match self.kind:
            case "prefix":
                upload.upload_package_to_prefix([path], self.server, self.channel, api_key=token, auth_file=file)
            case "quetz":
                upload.upload_package_to_quetz([path], self.server, self.channel, api_key=token, auth_file=file)
            case "artifactory":
                server = f"{self.server}/artifactory"
                upload.upload_package_to_artifactory([path], server, self.channel, token=token, auth_file=file)
            case "anaconda":
                labels = [self.label or "main"]
                upload.upload_package_to_anaconda(
                    [path], self.channel, channel=labels, api_key=token, url=self.server, auth_file=file
                )


def order_by_dependencies(plan: PublishPlan) -> list[str]:
    """The paths that are added, each after those that it depends on."""
    needs = {path: plan.catalogue.packages[path].record for path in plan.added}
    by_name = {str(record["name"]): path for path, record in needs.items()}
    ordered: dict[str, None] = {}

    def visit(path: str, above: tuple[str, ...]) -> None:
        for spec in needs[path].get("depends", ()):
            below = by_name.get(spec.split(" ")[0])
            if below is not None and below not in (*above, path):
                visit(below, (*above, path))
        ordered[path] = None

    for path in needs:
        visit(path, ())
    return list(ordered)


def _credentials_file(kind: Kind) -> Path:
    path = Path(os.environ.get("RATTLER_AUTH_FILE") or CREDENTIALS).expanduser()
    if not path.is_file():
        raise UsageError(
            "nobody says who publishes", hint=f"set {TOKENS[kind]}, or name a file of credentials in RATTLER_AUTH_FILE"
        )
    return path
