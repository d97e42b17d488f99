"""The commands that the pipelines run are commands that slipway takes, and they name jobs that it finds."""

from __future__ import annotations

import argparse
import hashlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import IntegrityError, UsageError, VariantError
from slipway.bootstrap.choices import ChannelRequest
from slipway.bootstrap.embedded import channel_request
from slipway.channel.specs import strict_spec
from slipway.cli import main
from slipway.commands import ci, install, publish
from slipway.commands._options import request_of
from slipway.recipe.choose import variant_of
from slipway.workflows.graph import takes
from slipway.workflows.handing import check_handed, hand_on, record_of
from slipway.workflows.job import find_job, local_jobs
from slipway.workflows.matrix import HANDED, build_command, gpu_commands, gpu_spec, publish_command

if TYPE_CHECKING:
    from types import ModuleType

    from slipway.workflows.matrix import Matrix


def parsed(command: str, module: ModuleType, **variables: str) -> argparse.Namespace:
    """The command as slipway reads it, its variables replaced as a shell would."""
    launcher, name, *words = (variables.get(word.removeprefix("$"), word) for word in shlex.split(command))
    assert (launcher, name) == ("./slipway", module.__name__.rpartition(".")[2])
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.set_defaults(words=words)
    module.add_arguments(parser)
    return parser.parse_args(words)


def test_every_written_build_finds_its_job(own_matrix: Matrix) -> None:
    jobs = own_matrix.jobs["linux-64"]
    arguments = parsed(build_command(own_matrix), ci, IDENTIFIER=jobs[0].identifier, PLATFORM="linux-64")
    assert arguments.handed == Path(HANDED)
    here = local_jobs(request_of(arguments))
    assert [job.identifier for job in here] == [job.identifier for job in jobs], "rendered alike on the runner"
    for mine, written in zip(here, jobs, strict=True):
        assert [other.name for other in mine.needs] == [other.name for other in written.needs]
    for job in jobs:
        assert (
            find_job(here, parsed(build_command(own_matrix), ci, IDENTIFIER=job.identifier).identifier).file == job.file
        )


def test_device_jobs_install_their_own_cuda(own_matrix: Matrix) -> None:
    for job in own_matrix.on_gpu:
        handing, installing, *_ = gpu_commands(own_matrix)
        assert parsed(handing, publish).to == "dist/channel"
        arguments = parsed(installing, install, SPEC=gpu_spec(job))
        assert arguments.channel == ["conda-forge"]
        taken = [other.identifier for other in own_matrix.on_gpu if takes(arguments.specs[0], other.output)]
        assert taken == [job.identifier], strict_spec(arguments.specs[0])


def test_publishing_command_is_one_of_slipway(own_matrix: Matrix) -> None:
    arguments = parsed(publish_command(own_matrix), publish, PACKAGES="dist/handed/linux-64/a.conda")
    assert arguments.to == "dist/release"
    assert arguments.packages == [Path("dist/handed/linux-64/a.conda")]


def test_embedded_channel_for_a_job_holds_what_its_needs_need(own_matrix: Matrix) -> None:
    found = {job.output.name: variant_of(job.outputs[::-1]) for job in own_matrix.jobs["linux-64"]}
    assert channel_request(found["libtorch"]) == ChannelRequest((), "openblas")
    assert channel_request(found["libtorch-cuda"]) == ChannelRequest(("13.0",), "mkl")
    assert channel_request(found["pytorch"]) == ChannelRequest((), "mkl", ("3.13",))
    assert channel_request(found["pytorch-gpu"]).cuda == ("13.0",)


def test_what_is_asked_for_leaves_jobs_out() -> None:
    def names(*words: str) -> list[str]:
        arguments = parsed(f"./slipway ci job x --handed y --channel z {' '.join(words)}", ci)
        return [job.identifier.partition("_")[0] for job in local_jobs(request_of(arguments))]

    assert names("--python 3.12 --blas mkl --cuda None") == ["libtorch-mkl", "pytorch-py312"]
    assert names("--python 3.12 --blas mkl --variant cuda_compiler_version=13.0") == [
        "libtorch-mkl",
        "libtorch-cuda-cuda130",
        "libtorch-distributed-nccl-cuda130",
        "pytorch-py312",
        "pytorch-gpu-cuda130",
    ]


def test_unknown_job(own_matrix: Matrix) -> None:
    with pytest.raises(VariantError) as caught:
        find_job(own_matrix.jobs["linux-64"], "libtorch-tomorrow_0")
    assert "libtorch-mkl_" in str(caught.value.hint)


def test_handing_on_replaces_in_one_step(tmp_path: Path) -> None:
    package, target = tmp_path / "a.conda", tmp_path / "handed/linux-64/a.conda"
    for text in ("old", "new"):
        package.write_text(text, encoding="utf-8")
        hand_on(package, target)
        assert target.read_text(encoding="utf-8") == text
        check_handed(target)
    assert sorted(target.parent.iterdir()) == [target, record_of(target)]
    with pytest.raises(FileNotFoundError):
        hand_on(tmp_path / "none.conda", target)
    assert target.read_text(encoding="utf-8") == "new"


def test_packages_of_conda_build_are_recorded_and_compared(tmp_path: Path) -> None:
    package = tmp_path / "win-64" / "a-1-0.conda"
    package.parent.mkdir()
    package.write_bytes(b"made")
    assert main(["ci", "hand", "give", str(tmp_path)]) == 0
    assert record_of(package).read_text() == f"{hashlib.sha256(b'made').hexdigest()}  a-1-0.conda\n"
    assert main(["ci", "hand", "take", str(tmp_path)]) == 0
    package.write_bytes(b"else")
    assert main(["ci", "hand", "give", str(tmp_path)]) == 0, "what has a record keeps it"
    assert main(["ci", "hand", "take", str(tmp_path)]) == IntegrityError.exit_code
    assert main(["ci", "hand", "take", str(tmp_path / "none")]) == UsageError.exit_code
