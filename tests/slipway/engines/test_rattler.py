"""Real builds of toy packages: isolation, progress, logs, failures, interruption. Each takes about half a second."""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.checkout import PACKAGE_ROOT
from slipway.base.errors import BuildError, IntegrityError, RecipeError, SolveError, VerifyError
from slipway.base.events import Phase
from slipway.base.log import NullReporter, Task
from slipway.base.paths import Workspace
from slipway.base.secrets import remember_secret
from slipway.channel.archive import read_contents
from slipway.channel.environments import install, solve
from slipway.channel.folder import Channel
from slipway.channel.package import unpack_package
from slipway.engines.build_folder import build_root
from slipway.engines.engine import Isolation
from slipway.model import OutputTest, RenderedOutput, Requirements, Source
from slipway.pipeline.context import RunContext
from slipway.pipeline.run import run

if TYPE_CHECKING:
    from conftest import Kit

pytestmark = pytest.mark.integration
MakeOutput = Callable[..., RenderedOutput]
MakeContext = Callable[..., RunContext]


def test_script_sees_condas_variables_and_nothing_of_the_host(
    make_output: MakeOutput, make_context: MakeContext
) -> None:
    leaks = {
        "CUDA_PATH": "/opt/cuda",
        "LD_LIBRARY_PATH": "/opt/lib",
        "PYTHONPATH": "/opt/py",
        "CMAKE_PREFIX_PATH": "/opt",
        "CFLAGS": "-DHOST",
        "PATH": "/opt/bin:" + os.environ["PATH"],
    }
    output = make_output(
        script="env > $RECIPE_DIR/../environment.txt\nexit 1\n",  # what failed stays for a look
        variant={"target_platform": "linux-64", "blas_impl": "mkl"},
    )
    context = make_context(environ={**os.environ, **leaks, "CONDA_OVERRIDE_CUDA": "13.0"})
    with pytest.raises(BuildError):
        run([output], context)
    lines = (build_root(os.environ) / "libtoy/environment.txt").read_text(encoding="utf-8").splitlines()
    seen = dict(line.split("=", 1) for line in lines if "=" in line)
    for key, value in leaks.items():
        assert value not in seen.get(key, ""), f"{key} of the host reached the build"
    assert seen["blas_impl"] == "mkl"
    assert seen["PKG_NAME"] == "libtoy"
    assert seen["PKG_VERSION"] == "1.0"
    assert seen["PKG_BUILDNUM"] == "0"
    assert seen["CONDA_BUILD"] == "1"
    assert seen["CPU_COUNT"] == "2"
    assert seen["SHLIB_EXT"] == ".so"
    assert seen["RECIPE_DIR"] == f"{build_root(os.environ)}/libtoy/recipe"
    assert seen["CMAKE_PREFIX_PATH"] == seen["PREFIX"]
    assert seen["SRC_DIR"].startswith(f"{build_root(os.environ)}/libtoy/")
    assert {"BUILD_PREFIX", "PYTHON", "target_platform"} <= seen.keys()


@pytest.mark.parametrize("program", ["gcc", "cc", "g++", "cmake", "ninja", "make", "python", "python3", "nvcc", "git"])
def test_host_programs_are_out_of_reach(make_output: MakeOutput, make_context: MakeContext, program: str) -> None:
    output = make_output(script=f"if command -v {program}; then exit 1; fi; mkdir $PREFIX/x; touch $PREFIX/x/y\n")
    assert run([output], make_context(), publish=False)[0].path.exists()


def test_failing_script_shows_the_end_of_its_log(
    make_output: MakeOutput, make_context: MakeContext, workspace: Workspace
) -> None:
    output = make_output(script="echo before\nfalse\necho after\n")
    with pytest.raises(BuildError) as caught:
        run([output], make_context())
    error = caught.value
    assert error.message == f"`{output.key}`: its build script failed: the command `false` (build.sh:2)"
    place, _, line = str(error.where).rpartition(":")
    assert workspace.log(output.key) == Path(place)
    assert workspace.log(output.key).read_text(encoding="utf-8").splitlines()[int(line) - 1] == "++ false"
    assert error.detail is not None
    assert "before" in error.detail
    assert "after" not in error.detail.replace("+ echo before", "")
    assert "before" in workspace.log(output.key).read_text(encoding="utf-8")
    assert list(workspace.channel.glob("*/*.conda")) == []


def test_what_commands_print_follows_their_trace(
    make_output: MakeOutput, make_context: MakeContext, workspace: Workspace
) -> None:
    output = make_output(script="for number in $(seq 300); do echo $number; done\nfalse\n")
    with pytest.raises(BuildError, match="the command `false`"):
        run([output], make_context())
    log = workspace.log(output.key).read_text(encoding="utf-8").splitlines()
    printed = [line for number in range(1, 301) for line in (f"++ echo {number}", str(number))]
    assert [line for line in log if line in set(printed)] == printed


@pytest.mark.parametrize("isolation", [Isolation.AUTO, Isolation.OFF])
def test_what_a_script_prints_and_leaves_running_holds_nothing_up(
    isolation: Isolation, make_output: MakeOutput, make_context: MakeContext
) -> None:
    """rattler-build stops reading where bytes are not UTF-8, and reads until nobody holds the other end."""
    script = "echo 'naïve ok'; printf 'caf\\351 é\\n'; seq 40000; (sleep 600 &); mkdir $PREFIX/x; touch $PREFIX/x/y\n"
    output = make_output(script=script)
    context = make_context(isolation=isolation)
    started = time.monotonic()
    run([output], context)
    assert time.monotonic() - started < 300
    log = context.workspace.log(output.key).read_text(encoding="utf-8").splitlines()
    assert {"naïve ok", "caf? ??", "40000", "ended sleep, which the script left running"} <= set(log)


@pytest.mark.parametrize("isolation", [Isolation.AUTO, Isolation.OFF])
def test_what_no_package_can_hold_is_named(
    isolation: Isolation, make_output: MakeOutput, make_context: MakeContext
) -> None:
    output = make_output(script="mkdir $PREFIX/x; mkfifo $PREFIX/x/pipe\n")
    with pytest.raises(BuildError, match=r"files, folders and links, but no \$PREFIX/x/pipe"):
        run([output], make_context(isolation=isolation))


def test_failing_test_keeps_the_package_back(
    make_output: MakeOutput, make_context: MakeContext, workspace: Workspace
) -> None:
    output = make_output(test=OutputTest(commands=("test -f $PREFIX/lib/nothing",)))
    with pytest.raises(BuildError, match="its test failed"):
        run([output], make_context())
    assert list(workspace.channel.glob("*/*.conda")) == []
    assert list(workspace.proved.glob("*/*.conda")) == []


def test_impossible_requirement_is_a_solve_error(make_output: MakeOutput, make_context: MakeContext) -> None:
    with pytest.raises(SolveError, match="no-such-package"):
        run([make_output(requirements=Requirements(host=("no-such-package",)))], make_context())


def test_package_that_breaks_a_policy_is_refused(
    make_output: MakeOutput, make_context: MakeContext, workspace: Workspace
) -> None:
    output = make_output(script="mkdir $PREFIX/x; echo $SRC_DIR/a.c > $PREFIX/x/y\n")
    with pytest.raises(VerifyError) as caught:
        run([output], make_context())
    assert "holds a path of the build" in str(caught.value.detail)
    assert list(workspace.channel.glob("*/*.conda")) == []


def test_two_outputs_must_not_share_a_file(make_output: MakeOutput, make_context: MakeContext) -> None:
    script = "mkdir $PREFIX/x; echo 1 > $PREFIX/x/y\n"
    with pytest.raises(VerifyError) as caught:
        run([make_output("one", script=script), make_output("two", script=script)], make_context())
    assert "one-1.0-h0123456_0.conda installs it too" in str(caught.value.detail)


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_a_new_package_must_go_with_those_that_are_reused(
    make_output: MakeOutput, make_context: MakeContext, order: tuple[str, str]
) -> None:
    def outputs(file_of_one: str) -> list[RenderedOutput]:
        found = {
            "one": make_output("one", script=f"mkdir $PREFIX/x; echo 1 > $PREFIX/x/{file_of_one}\n"),
            "two": make_output("two", script="mkdir $PREFIX/x; echo 2 > $PREFIX/x/two\n"),
        }
        return [found[name] for name in order]

    run(outputs("one"), make_context())
    with pytest.raises(VerifyError) as caught:
        run(outputs("two"), make_context())
    assert re.search(r"(one|two)-1.0-h0123456_0.conda installs it too", str(caught.value.detail))
    only_one = frozenset({"one-1.0-h0123456_0"})
    with pytest.raises(VerifyError, match=r"breaks a policy|does not go with"):
        run(outputs("two"), make_context(only=only_one))  # the other one being handed on


def test_developers_leftovers_stay_out(make_output: MakeOutput, make_context: MakeContext, git_checkout: Path) -> None:
    (git_checkout / ".gitignore").write_text("build/\n*.so\n", encoding="utf-8")
    (git_checkout / "build").mkdir()
    for name in ("build/cache", "old.so", "new.c"):
        (git_checkout / name).write_text(name, encoding="utf-8")
    output = make_output(
        script="mkdir $PREFIX/x; ls -A | grep -v -e conda_build -e build_env -e source_info > $PREFIX/x/files.txt\n",
        sources=(Source(path=str(git_checkout)),),
    )
    contents = read_contents(run([output], make_context())[0].path)
    assert contents["x/files.txt"].decode().split() == [".gitignore", "new.c"]


def test_patch_is_applied(make_output: MakeOutput, make_context: MakeContext, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.txt").write_text("old\n", encoding="utf-8")
    patch = "Why: because.\n\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n"
    (tmp_path / "0001-new.patch").write_text(patch, encoding="utf-8")
    output = make_output(
        script="mkdir $PREFIX/x; cp a.txt $PREFIX/x\n",
        sources=(Source(path="../source", patches=("../0001-new.patch",)),),
    )
    contents = read_contents(run([output], make_context())[0].path)
    assert contents["x/a.txt"] == b"new\n"
    assert (source / "a.txt").read_text(encoding="utf-8") == "old\n"


def test_nothing_is_built_twice_and_only_what_changed(make_output: MakeOutput, make_context: MakeContext) -> None:
    first = make_output("first", script="mkdir $PREFIX/x; echo 1 > $PREFIX/x/first\n")
    second = make_output(
        "second",
        script="mkdir -p $PREFIX/x; cat $PREFIX/x/first > $PREFIX/x/second\n",
        requirements=Requirements(host=("first 1.0 h0123456_0",), run=("first 1.0 h0123456_0",)),
    )
    assert [artifact.reused for artifact in run([first, second], make_context())] == [False, False]
    assert [artifact.reused for artifact in run([first, second], make_context())] == [True, True]
    (second.recipe_dir / "build.sh").write_text("mkdir -p $PREFIX/x; echo 3 > $PREFIX/x/second\n", encoding="utf-8")
    assert [artifact.reused for artifact in run([first, second], make_context())] == [True, False]
    (first.recipe_dir / "build.sh").write_text("mkdir $PREFIX/x; echo 2 > $PREFIX/x/first\n", encoding="utf-8")
    assert [artifact.reused for artifact in run([first, second], make_context())] == [False, False]
    unrelated = replace(first, variant={**first.variant, "python": "3.13"})
    assert [artifact.reused for artifact in run([unrelated, second], make_context())] == [True, True]


class RecordingReporter(NullReporter):
    """Keeps what tasks were told."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []

    @contextmanager
    def task(self, title: str, *, total: int | None = None, unit: str = "steps") -> Iterator[Task]:
        reporter = self

        class Recorder:
            def advance(self, amount: int) -> None:
                pass

            def update(self, **known: Any) -> None:
                reporter.updates.append(known)

        yield Recorder()


def test_ninjas_count_is_shown_live(make_output: MakeOutput, make_context: MakeContext) -> None:
    script = "echo '[1/2] Building a.o'; echo '[2/2] Linking liba.so'; mkdir $PREFIX/x; touch $PREFIX/x/y\n"
    reporter = RecordingReporter()
    run([make_output(script=script)], make_context(reporter=reporter))
    counts = [update for update in reporter.updates if update.get("total")]
    assert counts == [
        {"completed": 1, "total": 2, "text": "Building a.o"},
        {"completed": 2, "total": 2, "text": "Linking liba.so"},
    ]
    phases = [update["text"] for update in reporter.updates if "total" not in update]
    assert phases.index(Phase.SCRIPT) < phases.index(Phase.PACK)


def find_process(*words: str) -> int | None:
    """The number of the process with these words for a command line."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes().split(b"\0")[:-1] == [word.encode() for word in words]:
                return int(path.parent.name)
    return None


def wait_for_end(*words: str) -> bool:
    """Whether no process has these words for a command line within five seconds: the kernel takes its time to kill."""
    for _ in range(100):
        if find_process(*words) is None:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("isolation", [Isolation.AUTO, Isolation.OFF])
def test_interrupt_stops_everything_and_the_next_run_goes_on(
    make_output: MakeOutput, make_context: MakeContext, isolation: Isolation
) -> None:
    first = make_output("first", script="mkdir $PREFIX/x; echo 1 > $PREFIX/x/first\n")
    script = "mkdir $PREFIX/x; touch $PREFIX/x/second\n"
    child = ("sleep", f"100.{os.getpid()}")
    second = make_output("second", script=f"{' '.join(child)} & wait\n{script}")
    context = make_context(isolation=isolation)

    def interrupt() -> None:
        while find_process(*child) is None:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run([first, second], context)
    thread.join()
    assert wait_for_end(*child), "the build's child survived"
    (second.recipe_dir / "build.sh").write_text(script, encoding="utf-8")
    assert [artifact.reused for artifact in run([first, second], context)] == [True, False]


def test_two_checkouts_at_two_times_make_the_same_bytes(
    make_output: MakeOutput, make_context: MakeContext, tmp_path: Path
) -> None:
    script = "mkdir $PREFIX/x; date -d @$SOURCE_DATE_EPOCH > $PREFIX/x/y; echo $PREFIX $SRC_DIR > $PREFIX/x/p\n"
    script += "sed -i s,$SRC_DIR,, $PREFIX/x/p\n"
    contents = []
    for name, jobs in (("one", 1), ("another/one", 2)):
        output = make_output(script=script, recipe_dir=tmp_path / name / "recipe")
        output.recipe_dir.mkdir(parents=True)
        for file in ("build.sh", "LICENSE"):
            (output.recipe_dir / file).write_bytes((tmp_path / "recipe-libtoy" / file).read_bytes())
        context = make_context(workspace=Workspace(tmp_path / name / "dist"), jobs=jobs)
        contents.append(run([output], context)[0].path.read_bytes())
        time.sleep(1.1)
    assert contents[0] == contents[1]


@pytest.mark.parametrize("limit_kilobytes", [64])
def test_full_disk_is_named_and_leaves_no_half_package(tmp_path: Path, limit_kilobytes: int) -> None:
    """A file size limit stands in for a full disk: writes fail the same way, in the same places."""
    program = f"""
import os, resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from slipway import cli

from slipway.channel.folder import Channel
from slipway.channel.package_writer import PackageRecord, write_package
package = Path({str(tmp_path)!r}) / "big-1.0-0.conda"
tree = Path({str(tmp_path)!r}) / "tree"
tree.mkdir()
(tree / "big").write_bytes(os.urandom(1_000_000))
record = PackageRecord("big", "1.0", "0", 0, "linux-64", (), (), "MIT", noarch_python=False)
write_package(tree, record, package, placeholder="/", info={{}}, level=1)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit_kilobytes * 1024}, {limit_kilobytes * 1024}))
os.link = lambda path, target: (_ for _ in ()).throw(OSError(18, "cross-device"))
import types
module = types.ModuleType("fake")
module.add_arguments = lambda parser: None
module.execute = lambda arguments, reporter: Channel(Path({str(tmp_path)!r}) / "c").publish([("linux-64", package)])
cli.load_command = lambda name: module
sys.exit(cli.main(["anything"]))
"""
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(PACKAGE_ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 10, answer.stderr
    assert "error: the disk is full" in answer.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big-1.0-0.conda", "tree"]


def test_link_scripts_and_the_whole_about_are_packed(make_output: MakeOutput, make_context: MakeContext) -> None:
    about = {"license": "MIT", "license_file": "LICENSE", "doc_source_url": "https://example.org/doc", "tags": ["a"]}
    output = make_output(script="mkdir $PREFIX/x; touch $PREFIX/x/y\n", build={"post-link": "greet.sh"}, about=about)
    (output.recipe_dir / "greet.sh").write_text("echo hello\n", encoding="utf-8")
    contents = read_contents(run([output], make_context())[0].path)
    assert contents["bin/.libtoy-post-link.sh"] == b"echo hello\n"
    written = json.loads(contents["info/about.json"])
    assert {key: written[key] for key in ("license", "doc_source_url", "tags")} == {
        "license": "MIT", "doc_source_url": "https://example.org/doc", "tags": ["a"],
    }  # fmt: skip


def test_noarch_generic_is_tested_and_lies_in_noarch(make_output: MakeOutput, make_context: MakeContext) -> None:
    test = OutputTest(commands=("test -f $PREFIX/share/data",))
    output = make_output(script="mkdir $PREFIX/share; echo 1 > $PREFIX/share/data\n", noarch="generic",
                         subdir="noarch", test=test)  # fmt: skip
    path = run([output], make_context())[0].path
    assert path.parent.name == "noarch"
    assert json.loads(read_contents(path)["info/index.json"])["noarch"] == "generic"
    bad = replace(output, build_string="h1_0", test=OutputTest(commands=("test -f $PREFIX/share/missing",)))
    with pytest.raises(BuildError, match="its test failed"):
        run([bad], make_context())


def test_links_in_a_noarch_package_are_named(make_output: MakeOutput, make_context: MakeContext) -> None:
    output = make_output(script="mkdir -p $PREFIX/share; touch $PREFIX/share/a; ln -s a $PREFIX/share/b\n",
                         noarch="generic")  # fmt: skip
    with pytest.raises(BuildError, match=r"a noarch package holds symbolic links, .*: share/b$") as caught:
        run([output], make_context())
    assert caught.value.where == str(output.recipe_path)


def test_files_of_the_source_reach_the_test(make_output: MakeOutput, make_context: MakeContext, tmp_path: Path) -> None:
    (tmp_path / "upstream/checks").mkdir(parents=True)
    (tmp_path / "upstream/checks/check.sh").write_text("test -f $PREFIX/x/y\n", encoding="utf-8")
    test = OutputTest(commands=("bash checks/check.sh",), source_files=("checks/",))
    output = make_output(script="mkdir $PREFIX/x; touch $PREFIX/x/y\n", test=test,
                         sources=(Source(path="../upstream"),))  # fmt: skip
    assert run([output], make_context())[0].path.is_file()


@pytest.mark.parametrize("name", ["../../../planted", "a/../../../../planted", "link/planted"])
def test_patch_that_writes_elsewhere_is_not_applied(
    make_output: MakeOutput, make_context: MakeContext, tmp_path: Path, name: str
) -> None:
    (tmp_path / "source/sub").mkdir(parents=True)
    (tmp_path / "source/a.txt").write_text("old\n", encoding="utf-8")
    (tmp_path / "source/link").symlink_to("sub")
    patch = f"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+planted\n"
    (tmp_path / "evil.patch").write_text(patch, encoding="utf-8")
    output = make_output(sources=(Source(path="../source", patches=("../evil.patch",)),))
    with pytest.raises(RecipeError, match=r"the patch `evil\.patch`") as caught:
        run([output], make_context())
    assert str(caught.value.where).endswith("evil.patch:7")
    assert not list(tmp_path.rglob("planted"))


def test_secrets_reach_nothing_that_stays(make_output: MakeOutput, make_context: MakeContext, tmp_path: Path) -> None:
    """The script sees its variable and prints it; the recipe repeats it, and an address holds a password."""
    value, password = "PLANTED-value-1", "PLANTED-password-2"
    remember_secret(value)
    (tmp_path / "source.txt").write_text("x", encoding="utf-8")
    output = make_output(
        script=f'echo "it is $ODDLY_NAMED"\ntest "$ODDLY_NAMED" = {value}\nmkdir $PREFIX/x\necho 1 > $PREFIX/x/a\n',
        script_env={"ODDLY_NAMED": value, "MODE": "fast"},
        secret_env=("ODDLY_NAMED",),
        about={"license": "MIT", "license_file": "LICENSE", "home": f"https://me:{password}@host.example/?page=2"},
    )
    (output.recipe_dir / "meta.yaml").write_text(f"# {value} https://me:{password}@host.example\n", encoding="utf-8")
    (output.recipe_dir / "notes.txt").write_text(f"{value}\n", encoding="utf-8")
    context = make_context()
    artifact = run([output], context)[0]
    with unpack_package(artifact.path) as folder:
        files = [path for path in folder.rglob("*") if path.is_file()]
        texts = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    texts |= {str(path): path.read_bytes() for path in tmp_path.rglob("*.log")}
    texts |= {str(path): path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    assert any(b"it is ***" in text for text in texts.values()), "the log has the line without the value"
    assert [name for name, text in texts.items() if value.encode() in text or password.encode() in text] == []
    manifest = json.loads(texts["info/slipway.json"])
    assert manifest["rendered"]["script_env"]["MODE"] == "fast"
    assert manifest["rendered"]["script_env"]["ODDLY_NAMED"].startswith("keyed-sha256:")
    assert run([output], context)[0].reused
    changed = replace(output, script_env={"ODDLY_NAMED": "another-value", "MODE": "fast"})
    with pytest.raises(BuildError):
        run([changed], context)


@pytest.mark.parametrize(
    ("section", "damage"),
    [("build", "append"), ("build", "restored"), ("host", "flip"), ("run", "append"), ("test", "flip")],
)
def test_damaged_package_reaches_no_build(
    make_output: MakeOutput, make_context: MakeContext, kit: Kit, tmp_path: Path, section: str, damage: str
) -> None:
    """Among what an earlier build unpacked: what a script left there, a disk, or a cache that was restored."""
    channel = Channel(tmp_path / "tools")
    channel.publish([("linux-64", kit.package({"share/tool.txt": "good"}, name="tool"))])
    script = "mkdir -p $PREFIX/x; cat $BUILD_PREFIX/share/tool.txt $PREFIX/share/tool.txt > $PREFIX/x/seen || :"
    check = OutputTest(
        commands=('test "$(cat $PREFIX/share/tool.txt)" = good',), requires=("tool",) if section == "test" else ()
    )
    output = make_output(
        script=script,
        requirements=Requirements(**{section: ("tool",)} if section != "test" else {}),
        test=check if section in ("run", "test") else OutputTest(),
    )
    context = make_context(channels=(channel.url,), environ={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")})
    for _ in range(2):
        (artifact,) = run([output], replace(context, rebuild=True))
        if section in ("build", "host"):
            assert read_contents(artifact.path)["x/seen"] == b"good"
        (unpacked,) = (tmp_path / "cache/slipway/for-builds").glob("*/files/share/tool.txt")
        times = unpacked.stat()
        if damage == "restored":
            unpacked.unlink()
        unpacked.write_bytes(b"good evil" if damage == "append" else b"evil")
        os.utime(unpacked, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.parametrize("section", ["build", "host", "run", "test"])
def test_flipped_byte_in_a_channel_ends_the_build(
    make_output: MakeOutput, make_context: MakeContext, kit: Kit, tmp_path: Path, section: str
) -> None:
    channel = Channel(tmp_path / "tools")
    channel.publish([("linux-64", kit.package({"share/tool.txt": "good"}, name="tool"))])
    (package,) = channel.packages()
    content = bytearray(package.read_bytes())
    content[len(content) // 2] ^= 1
    package.write_bytes(content)
    output = make_output(
        script="mkdir $PREFIX/x; touch $PREFIX/x/y",
        requirements=Requirements(**{section: ("tool",)} if section != "test" else {}),
        test=OutputTest(commands=("true",), requires=("tool",) if section == "test" else ()),
    )
    with pytest.raises(IntegrityError, match="not the one that was indexed"):
        run([output], make_context(channels=(channel.url,)))


def test_flipped_byte_in_a_package_of_the_same_run(
    make_output: MakeOutput, make_context: MakeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the build of one output and that of the next, which is built with it."""
    first = make_output("first", script="mkdir $PREFIX/x; echo 1 > $PREFIX/x/first\n")
    needs = Requirements(host=("first 1.0 h0123456_0",))
    second = make_output("second", script="mkdir -p $PREFIX/x; touch $PREFIX/x/second\n", requirements=needs)
    context = make_context()
    publish = Channel.publish

    def spoil(channel: Channel, *words: Any, **more: Any) -> None:
        publish(channel, *words, **more)
        if channel == context.session:
            for path in channel.packages():
                content = bytearray(path.read_bytes())
                content[len(content) // 2] ^= 1
                path.unlink()  # other channels have the same file
                path.write_bytes(content)

    monkeypatch.setattr(Channel, "publish", spoil)
    with pytest.raises(IntegrityError, match="not the one that was indexed"):
        run([first, second], context)


def test_channels_behind_http_are_reached_through_the_limits(
    make_output: MakeOutput, make_context: MakeContext, tmp_path: Path
) -> None:
    """A build and an installation take a package from there; what is recorded names the channel's own address."""
    first = make_output("first", script="mkdir $PREFIX/x; echo 1 > $PREFIX/x/first\n")
    context = make_context()
    run([first], context)
    folder = tmp_path / "served"
    context.published.folder.rename(folder)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        second = make_output(
            "second",
            script="mkdir -p $PREFIX/x; cat $PREFIX/x/first > $PREFIX/x/second\n",
            requirements=Requirements(host=("first 1.0 h0123456_0",)),
        )
        artifact = run([second], replace(context, channels=(url,)))[0]
        install(solve(["first"], [url]), tmp_path / "env", NullReporter())
        server.shutdown()
    assert read_contents(artifact.path)["x/second"] == b"1\n"
    record = json.loads((tmp_path / "env/conda-meta/first-1.0-h0123456_0.json").read_text(encoding="utf-8"))
    assert record["url"].startswith(f"{url}/linux-64/first")
