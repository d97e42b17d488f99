"""Which store the compiler cache gets: read off the caller's environment, checked before anything is built.

sccache's own variables choose: a folder (SCCACHE_DIR), Redis, S3, or one of its other services. Where they choose
nothing it is a folder below slipway's cache. The store decides how long a build takes and nothing else: it is part of
no digest and no package, and its passwords reach sccache's server only, never a build script.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from slipway.base.errors import HostError, UsageError
from slipway.base.secrets import names_a_secret
from slipway.base.user_folders import cache_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

CHOOSERS: Mapping[str, tuple[str, ...]] = {
    "disk": ("SCCACHE_DIR",),
    "redis": ("SCCACHE_REDIS_ENDPOINT", "SCCACHE_REDIS_CLUSTER_ENDPOINTS", "SCCACHE_REDIS"),
    "s3": ("SCCACHE_BUCKET",),
    "memcached": ("SCCACHE_MEMCACHED_ENDPOINT", "SCCACHE_MEMCACHED"),
    "gcs": ("SCCACHE_GCS_BUCKET",),
    "gha": ("SCCACHE_GHA_ENABLED",),
    "azure": ("SCCACHE_AZURE_CONNECTION_STRING",),
    "webdav": ("SCCACHE_WEBDAV_ENDPOINT",),
    "oss": ("SCCACHE_OSS_BUCKET",),
    "cos": ("SCCACHE_COS_BUCKET",),
}
"""sccache's kinds of stores, under its own names, and the variables that choose them."""

CHAIN = "SCCACHE_MULTILEVEL_CHAIN"
"""Names several kinds, the fastest first."""

RESERVED = frozenset(
    [
        "SCCACHE_SERVER_UDS",
        "SCCACHE_SERVER_PORT",
        "SCCACHE_START_SERVER",
        "SCCACHE_STARTUP_NOTIFY",
        "SCCACHE_NO_DAEMON",
        "SCCACHE_IDLE_TIMEOUT",
        "SCCACHE_BASEDIRS",
        "SCCACHE_CACHED_CONF",
    ]
)
"""What slipway decides itself: each build has a server of its own.

SCCACHE_BASEDIRS is not passed on and not used: it takes paths out of string constants, too, so that a build would get
an object that holds the prefix of another build, which nobody finds and replaces when the package is installed.
"""

FOR_CLIENTS = ("SCCACHE_RECACHE", "SCCACHE_NO_CACHE", "SCCACHE_C_CUSTOM_CACHE_BUSTER")
"""The caller's wishes that sccache reads with each compile rather than when its server starts."""

CREDENTIALS = re.compile(
    r"(AWS|ALIBABA_CLOUD|TENCENTCLOUD|GOOGLE|AZURE)_\w+|ACTIONS_(RESULTS|CACHE)_URL|ACTIONS_RUNTIME_TOKEN"
    r"|ACTIONS_CACHE_SERVICE_V2|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|HOME|USER|TMPDIR|LANG",
    re.IGNORECASE,
)
"""What sccache's server may need beside its own variables to reach and open a store."""

FILE_VARIABLES = (
    "SCCACHE_CONF", "SCCACHE_GCS_KEY_PATH", "GOOGLE_APPLICATION_CREDENTIALS", "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
"""Of those, what names a file that opens a store."""

CREDENTIAL_FOLDERS = (".aws", ".config/gcloud")
"""Below the home: where clouds' own programs keep what opens a store."""

SIZE = re.compile(r"\d+[KMGT]?")
DEFAULT_SIZE = "10G"
CONNECT_SECONDS = 5.0


@dataclass(frozen=True)
class Store:
    """A chosen store.

    Attributes:
        place: where it is, for people: no user names, no passwords.
        folder: the store itself, if it is a folder.
        server: the environment that sccache's server gets, with whatever opens the store.
        clients: the caller's wishes that go with every compile.
    """

    place: str
    folder: Path | None
    server: Mapping[str, str]
    clients: Mapping[str, str]

    @property
    def is_remote(self) -> bool:
        """Whether it is, or may be, reached over a network."""
        chosen = any(name in self.server for kind, names in CHOOSERS.items() if kind != "disk" for name in names)
        return chosen or self.folder is None

    def redact(self, text: str) -> str:
        """`text` without what opens the store."""
        secrets = {value for key, value in self.server.items() if names_a_secret(key)}
        for value in tuple(self.server.values()):
            secrets.update(re.findall(r"://([^/@\s]+)@", value))
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def choose_store(environ: Mapping[str, str]) -> Store:
    """The store that the caller's environment asks for.

    Raises:
        UsageError: the variables contradict each other, or one of them means nothing.
    """
    given = {
        key: value for key, value in environ.items() if key.startswith("SCCACHE_") and value and key not in RESERVED
    }
    chosen = {kind: names for kind, choosers in CHOOSERS.items() if (names := [n for n in choosers if n in given])}
    chain = [kind.strip() for kind in given.get(CHAIN, "").split(",") if kind.strip()]
    for kind in chain:
        if kind not in CHOOSERS:
            raise UsageError(f"{CHAIN} names `{kind}`", hint=f"sccache knows {', '.join(CHOOSERS)}")
        if kind not in chosen and kind != "disk":
            raise UsageError(f"{CHAIN} names `{kind}`, and nothing says where that is", hint=_set(kind))
    if len(chosen) > 1 and not chain:
        variables = " and ".join(names[0] for names in chosen.values())
        raise UsageError(
            f"{variables} choose different stores for the compiler cache",
            hint=f"unset all but one, or say in which order to ask them: {CHAIN}={','.join(chosen)}",
        )
    if size := given.get("SCCACHE_CACHE_SIZE"):
        if not SIZE.fullmatch(size):
            raise UsageError(f"SCCACHE_CACHE_SIZE is `{size}`", hint="a number, with K, M, G or T behind it: 10G")
    else:
        given["SCCACHE_CACHE_SIZE"] = DEFAULT_SIZE
    for name in ("SCCACHE_DIR", "SCCACHE_CONF", "SCCACHE_ERROR_LOG"):
        if name in given and not Path(given[name]).is_absolute():
            raise UsageError(
                f"{name} is `{given[name]}`: sccache's server has a working folder of its own, so that this is nowhere",
                hint=f"write the whole path, from / on: {name}={Path.cwd() / given[name]}",
            )
    if "SCCACHE_CONF" in given and not Path(given["SCCACHE_CONF"]).is_file():
        raise UsageError("SCCACHE_CONF names a file that is not there", where=given["SCCACHE_CONF"])
    kinds = chain or list(chosen)
    by_file = "SCCACHE_CONF" in given and not kinds
    folder = None
    if not by_file:
        if not kinds or "disk" in kinds:
            folder = Path(given.setdefault("SCCACHE_DIR", str(cache_folder(environ).absolute() / "sccache")))
        # A configuration that was not asked for must not choose: only what is named here does.
        given.setdefault("SCCACHE_CONF", "/dev/null")
    clients = {key: given.pop(key) for key in FOR_CLIENTS if key in given}
    server = {key: value for key, value in environ.items() if CREDENTIALS.fullmatch(key)} | given
    if by_file:
        place = f"what {given['SCCACHE_CONF']} names"
    else:
        place = ", then ".join(_place(kind, given) for kind in kinds or ["disk"])
    return Store(place, folder, server, clients)


def fresh_store(folder: Path, environ: Mapping[str, str]) -> Store:
    """An empty store of its own in `folder`: every file is compiled."""
    return choose_store({key: value for key, value in environ.items() if not key.startswith("SCCACHE_")} | {
        "SCCACHE_DIR": str(folder)
    })  # fmt: skip


def check_store(store: Store) -> None:
    """Find out in seconds what sccache would take half a minute to say.

    Raises:
        HostError: the folder cannot be made, or nobody listens where Redis should be.
    """
    if store.folder is not None:
        try:
            store.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HostError(
                f"the folder of the compiler cache cannot be made: {error.strerror}",
                where=str(store.folder),
                hint="name another one in SCCACHE_DIR",
            ) from error
    endpoints = [store.server.get("SCCACHE_REDIS_ENDPOINT", ""), store.server.get("SCCACHE_REDIS", "")]
    endpoints += store.server.get("SCCACHE_REDIS_CLUSTER_ENDPOINTS", "").split(",")
    for endpoint in filter(None, map(str.strip, endpoints)):
        _check_redis(endpoint, store)


def unusable(store: Store, reason: str, detail: str | None = None) -> HostError:
    """What to say when the store cannot be used; `detail` is what sccache says itself."""
    hint = "start it, or correct the SCCACHE_* variables that name it and open it (user, password)"
    if "Redis" in store.place:
        hint += "; `redis-cli -u ADDRESS ping` tells whether it lets you in"
    return HostError(
        f"the compiler cache's store {reason}",
        where=store.place,
        hint=f"{hint}; without them slipway keeps compiled files in a folder of its own",
        detail=store.redact(detail) if detail else None,
    )


def _check_redis(endpoint: str, store: Store) -> None:
    """Find out whether anybody listens there; sccache gives up after half a minute and does not say why."""
    parts = urlsplit(endpoint if "://" in endpoint else f"redis://{endpoint}")
    try:
        socket.create_connection((parts.hostname or "localhost", parts.port or 6379), CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise unusable(store, f"does not answer: {reason}") from error


def _place(kind: str, given: Mapping[str, str]) -> str:
    value = next((given[name] for name in CHOOSERS[kind] if name in given), "")
    if kind == "disk":
        return f"folder {value}"
    if kind == "s3":
        endpoint = given.get("SCCACHE_ENDPOINT", "")
        return f"S3 bucket {value}" + (f" at {_without_user(endpoint)}" if endpoint else "")
    if kind == "gha":
        return "GitHub's cache"
    if kind == "azure":
        return "Azure container " + given.get("SCCACHE_AZURE_BLOB_CONTAINER", "")
    return {"redis": "Redis", "memcached": "memcached", "webdav": "WebDAV"}.get(kind, kind.upper()) + (
        f" at {_without_user(value)}"
    )


def _without_user(url: str) -> str:
    """``redis://user:password@host/?password=x`` as ``redis://host``."""
    return ",".join(re.sub(r"//[^/@]*@", "//", part).partition("?")[0] for part in url.split(","))


def _set(kind: str) -> str:
    return f"set {CHOOSERS[kind][0]}"
