"""A plan is carried out: the right packages are built, what is edited meanwhile counts, and only whole runs publish."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import BuildError, VerifyError
from slipway.base.events import Reason
from slipway.channel.package import read_info
from slipway.model import RECIPE_SETTINGS, OutputTest, RenderedOutput, Requirements
from slipway.pipeline.context import RunContext
from slipway.pipeline.manifest import MANIFEST_FILE
from slipway.pipeline.plan import make_plan
from slipway.pipeline.run import run

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Kit
    from slipway.base.log import Reporter
    from slipway.engines.engine import BuildContext, Engine

MakeOutput = Callable[..., RenderedOutput]
MakeContext = Callable[..., RunContext]


class Interfering:
    """An engine that does something else just after it has built."""

    def __init__(self, engine: Engine, interfere: Callable[[RenderedOutput], None]) -> None:
        self.engine = engine
        self.name = engine.name
        self.interfere = interfere

    def build(self, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> Path:
        """See `slipway.engines.engine.Engine.build`."""
        built = self.engine.build(output, context, reporter)
        self.interfere(output)
        return built

    def test(self, package: Path, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> None:
        """See `slipway.engines.engine.Engine.test`."""
        self.engine.test(package, output, context, reporter)


def write_script(output: RenderedOutput, text: str) -> None:
    """Edit what builds it."""
    (output.recipe_dir / "build.sh").write_text(f"mkdir -p $PREFIX/x; echo {text} > $PREFIX/x/$PKG_NAME\n")


@pytest.fixture
def outputs(make_output: MakeOutput) -> list[RenderedOutput]:
    """Two that build in no time, the second one from the first."""
    first = make_output("first")
    second = make_output("second", requirements=Requirements(host=("first 1.0 h0123456_0",)))
    for output in (first, second):
        write_script(output, "1")
    return [first, second]


def published(context: RunContext) -> list[str]:
    """What users see."""
    return [path.stem for path in context.published.packages()]


def test_the_plan_tells_what_the_run_does(outputs: list[RenderedOutput], make_context: MakeContext) -> None:
    def plan() -> list[Reason]:
        return [planned.reason for planned in make_plan(outputs, make_context().plan_inputs()).outputs]

    assert plan() == [Reason.NEW, Reason.NEW]
    assert [artifact.reused for artifact in run(outputs, make_context())] == [False, False]
    assert plan() == [Reason.UP_TO_DATE, Reason.UP_TO_DATE]
    write_script(outputs[1], "2")
    assert plan() == [Reason.UP_TO_DATE, Reason.CHANGED]
    artifacts = run(outputs, make_context())
    assert [artifact.reused for artifact in artifacts] == [True, False]
    assert [artifact.path for artifact in artifacts] == make_context().published.packages()


def test_making_a_plan_writes_nothing(outputs: list[RenderedOutput], make_context: MakeContext) -> None:
    context = make_context()
    make_plan(outputs, context.plan_inputs())
    assert not context.workspace.dist.exists()


def test_what_is_edited_while_another_output_is_built_counts(
    outputs: list[RenderedOutput], make_context: MakeContext
) -> None:
    engine = make_context().engine
    edit = Interfering(engine, lambda built: write_script(outputs[1], "2") if built is outputs[0] else None)
    second = run(outputs, make_context(engine=edit))[1]
    plan = make_plan(outputs, make_context().plan_inputs())
    assert plan.outputs[1].package == second.path, "it says that it was made from the edited script, and it was"


def test_a_package_is_packed_while_its_tests_run(make_output: MakeOutput, make_context: MakeContext) -> None:
    output = make_output("first", test=OutputTest(commands=("sleep 2",)))
    write_script(output, "1")
    context, found = make_context(), list[bytes | None]()

    def look(built: RenderedOutput) -> None:
        (path,) = context.workspace.work.glob(f"built/*/{built.key}.conda")
        found.append(read_info(path, MANIFEST_FILE))

    run([output], make_context(engine=Interfering(context.engine, look)))
    assert found[0] is not None, "what it was made from is in it already when the engine is done"


def test_a_failure_publishes_nothing_and_the_next_run_goes_on(
    outputs: list[RenderedOutput], make_context: MakeContext
) -> None:
    script = outputs[1].recipe_dir / "build.sh"
    whole = script.read_text(encoding="utf-8")
    script.write_text("exit 1\n", encoding="utf-8")
    context = make_context()
    with pytest.raises(BuildError):
        run(outputs, context)
    assert published(context) == []
    assert [path.stem for path in context.proved.packages()] == [outputs[0].key]
    script.write_text(whole, encoding="utf-8")
    assert [artifact.reused for artifact in run(outputs, context)] == [True, False]
    assert published(context) == [output.key for output in outputs]
    assert not context.proved.folder.exists()
    assert not context.session.folder.exists()


def test_without_publishing_the_packages_wait(outputs: list[RenderedOutput], make_context: MakeContext) -> None:
    context = make_context()
    waiting = run(outputs, context, publish=False)
    assert published(context) == []
    assert [artifact.path for artifact in waiting] == context.proved.packages()
    assert [artifact.reused for artifact in run(outputs, context)] == [True, True]
    assert published(context) == [output.key for output in outputs]


def test_what_breaks_a_policy_is_neither_proved_nor_published(
    outputs: list[RenderedOutput], make_context: MakeContext
) -> None:
    write_script(outputs[1], "$SRC_DIR")
    context = make_context()
    with pytest.raises(VerifyError, match="breaks a policy"):
        run(outputs, context)
    assert published(context) == []
    assert [path.stem for path in context.proved.packages()] == [outputs[0].key]


def test_rebuild_builds_what_did_not_change(outputs: list[RenderedOutput], make_context: MakeContext) -> None:
    run(outputs, make_context())
    before = [path.read_bytes() for path in make_context().published.packages()]
    assert [artifact.reused for artifact in run(outputs, make_context(rebuild=True))] == [False, False]
    assert [path.read_bytes() for path in make_context().published.packages()] == before


@pytest.fixture
def linked(make_output: MakeOutput, kit: Kit) -> list[RenderedOutput]:
    """A library that is copied from beside its recipe, and a program that links it and whose test reads it."""
    library = make_output("library", script="mkdir -p $PREFIX/lib; cp $RECIPE_DIR/libgood.so $PREFIX/lib\n")
    (library.recipe_dir / "libgood.so").write_bytes(kit.library("int good(void) { return 1; }"))
    needs = ("library 1.0 h0123456_0",)
    program = make_output(
        "program",
        requirements=Requirements(host=needs, run=needs),
        test=OutputTest(commands=("grep -q good $PREFIX/lib/libgood.so", "! grep -q bad_one $PREFIX/lib/libgood.so")),
    )
    (program.recipe_dir / RECIPE_SETTINGS).write_text("links:\n  program: [library]\n", encoding="utf-8")
    write_script(program, "1")
    return [library, program]


def test_what_links_an_unchanged_interface_is_tested_and_not_built(
    linked: list[RenderedOutput], make_context: MakeContext, kit: Kit
) -> None:
    context = make_context()
    run(linked, context)
    library = linked[0].recipe_dir / "libgood.so"
    library.write_bytes(kit.library("int good(void) { return 2; }"))
    assert [artifact.reused for artifact in run(linked, context)] == [False, True]
    assert [artifact.reused for artifact in run(linked, context)] == [True, True]
    before = [path.read_bytes() for path in context.published.packages()]
    library.write_bytes(kit.library('static const char *volatile t = "bad_one"; int good(void) { return t[1]; }'))
    with pytest.raises(BuildError):
        run(linked, context)
    assert [path.read_bytes() for path in context.published.packages()] == before, "its test failed with the new one"
    library.write_bytes(kit.library("int good(void) { return 1; } int more(void) { return 2; }"))
    assert [artifact.reused for artifact in run(linked, context)] == [False, False]
