"""One output as a recipe: it renders to the same package again, and writing it takes no more than the renderer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import RecipeError
from slipway.base.platform import find_platform
from slipway.engines.conda_build_recipe import write_recipe
from slipway.recipe import load_recipe, render

if TYPE_CHECKING:
    from collections.abc import Callable

    from slipway.model import RenderedOutput
    from slipway.workflows.matrix import Matrix

CHECKOUT = Path(__file__).resolve().parents[3]


def test_every_job_renders_to_the_same_package_again(own_matrix: Matrix, tmp_path: Path) -> None:
    for job in own_matrix.everything:
        folder = tmp_path / job.platform / job.identifier
        write_recipe(job.output, folder)
        (again,) = render(load_recipe(folder), platform=find_platform(job.platform), environ={})
        assert (again.key, again.subdir, again.build_number) == (
            job.output.key,
            job.output.subdir,
            job.output.build_number,
        )
        assert again.requirements == job.output.requirements
        assert again.run_exports == job.output.run_exports
        assert again.test == job.output.test
        assert again.script == job.output.script
        for source in again.sources:
            assert (folder / str(source.path)).resolve() == (CHECKOUT / "src").resolve()
            assert all((folder / patch).is_file() for patch in source.patches)


def test_a_folder_of_others_is_left_alone(own_matrix: Matrix, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work\n", encoding="utf-8")
    with pytest.raises(RecipeError, match="the folder is not empty"):
        write_recipe(own_matrix.everything[0].output, tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_runs_where_there_is_no_fcntl_and_no_rattler(own_matrix: Matrix, tmp_path: Path) -> None:
    """As in conda's own Python on Windows, which has Jinja, YAML and packaging."""
    job = own_matrix.jobs["win-64"][-1]
    words = ["ci", "recipe", job.identifier, "--platform", "win-64", "--to", str(tmp_path / "one")]
    program = (
        "import sys\n"
        "for name in ('fcntl', 'rattler', 'rattler_build', 'rich', 'elftools', 'zstandard', 'resource'):\n"
        "    sys.modules[name] = None\n"
        "from slipway.cli import main\n"
        f"sys.exit(main({words!r}))\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=False,
                            env={"PYTHONPATH": str(CHECKOUT / "ci")})  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "bld.bat" in (tmp_path / "one/meta.yaml").read_text(encoding="utf-8")


def test_links_of_the_recipe_stay_in_it(make_output: Callable[..., RenderedOutput], tmp_path: Path) -> None:
    recipe = tmp_path / "recipe"
    recipe.mkdir()
    (recipe / "LICENSE").touch()
    (recipe / "link").symlink_to("LICENSE")
    made = write_recipe(make_output(recipe_dir=recipe), tmp_path / "made").parent
    assert str((made / "link").readlink()) == "LICENSE"
    (recipe / "key").symlink_to("../key")
    with pytest.raises(RecipeError, match="`key` in the recipe is a link that leads out of it"):
        write_recipe(make_output(recipe_dir=recipe), tmp_path / "other")
