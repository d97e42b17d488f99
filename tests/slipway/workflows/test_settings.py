"""settings.yaml: this checkout's is right, and a wrong one is refused with the place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import UsageError
from slipway.workflows.settings import DEFAULT_SETTINGS, load_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_own_settings() -> None:
    settings = load_settings()
    assert settings.platforms["linux-64"].engine == "slipway"
    assert [name for name, platform in settings.platforms.items() if platform.tested] == ["linux-64"]
    assert settings.resources_of("libtorch").memory_gb > settings.resources_of("something else").memory_gb


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("checks:", "cheks:"), "unknown key `cheks`"),
        (
            ("engine: slipway", "engine: make"),
            "`platforms.linux-64.engine`: expected one of slipway, conda-build, found `make`",
        ),
        (("tested: true", "tested: perhaps"), "`platforms.linux-64.tested`: expected true or false, found `perhaps`"),
        (("runner: ubuntu-24.04\n", "runer: ubuntu-24.04\n"), "unknown key `platforms.linux-64.runer`"),
        (("uses: actions/checkout,", "uses: checkout,"), "`actions.checkout.uses`: is 'checkout'; it must match"),
        (("commit: 11bd7", "commit: v4 #"), "not valid YAML"),
        (("commit: 11bd71901", "commit: main"), "`actions.checkout.commit`: is 'main"),
        (("version: v4.2.2", "version: main"), "`actions.checkout.version`: is 'main'; it must match v"),
        (
            ("    - ci/slipway/bootstrap/data/lock.yaml\n", "    - a\n    - b\n"),
            "`cache.key-files`: names more than two files",
        ),
        (("  default: {", "  others: {"), "`resources`: needs a `default`"),
        (("memory_gb: 2", "memory_gb: 0"), "`resources.default.memory_gb`: must be more than 0"),
        (("memory_gb: 2", "memory_gb: true"), "`resources.default.memory_gb`: expected a number, found `True`"),
        (("  requires: [numpy, pytest]", "  requires: []"), "`gpu.requires`: is empty"),
        (("  secrets: []", "  secrets: [1]"), "`compiler-cache.secrets[0]`: expected text, found `1`"),
        (
            ("CACHE_SIZE: 1G", "CACHE_SIZE: 1"),
            "`compiler-cache.variables.SCCACHE_CACHE_SIZE`: expected text",
        ),
        (("\nchannels:", "\ncolour: red\nchannels:"), "unknown key `colour`"),
        (("gpu:\n  platform: linux-64", "gpu:\n  platform: linux-32"), "`gpu`: its platform is 'linux-32'"),
        (("channels:\n  - conda-forge", "channels: [a"), "not valid YAML"),
    ],
)
def test_wrong_settings(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    text = DEFAULT_SETTINGS.read_text(encoding="utf-8")
    assert change[0] in text
    path = tmp_path / "settings.yaml"
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_settings(path)
    assert message in caught.value.message
    assert str(caught.value.where).rpartition(":")[0] == str(path)


def test_no_settings(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_settings(tmp_path / "none.yaml")
