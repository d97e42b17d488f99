"""The keys that meta.yaml may hold, section by section: a key that is none of them is a mistake, not a note."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from slipway.base.errors import RecipeError

if TYPE_CHECKING:
    from collections.abc import Mapping

_BUILD = """
    number string entry_points osx_is_app disable_pip features track_features preserve_egg_dir no_link
    binary_relocation script noarch noarch_python has_prefix_files binary_has_prefix_files ignore_prefix_files
    detect_binary_files_with_prefix skip_compile_pyc rpaths rpaths_patcher script_env always_include_files skip
    pin_depends include_recipe preferred_env preferred_env_executable_paths run_exports ignore_run_exports
    ignore_run_exports_from requires_features provides_features force_use_keys force_ignore_keys merge_build_host
    msvc_compiler missing_dso_whitelist error_overdepending error_overlinking overlinking_ignore_patterns
    runpath_whitelist prefix_detection_ignore_patterns allow_missing_dso_whitelist python_site_packages_path
    python_version_independent pre-link post-link pre-unlink activate_in_script
"""
_TEST = "requires commands files imports source_files downstreams script"
_ABOUT = """
    home dev_url doc_url doc_source_url license_url license license_family license_file license_scan identifiers
    description summary keywords tags prelink_message recipe_repo_url readme
"""
_SOURCE = """
    fn url md5 sha1 sha256 path path_via_symlink git_url git_tag git_branch git_rev git_depth git_subfolder hg_url
    hg_tag svn_url svn_rev svn_ignore_externals svn_username svn_password folder no_hoist patches expand git_lfs
    content_md5 content_sha1 content_sha256
"""
_OUTPUT = """
    name version number string entry_points script script_interpreter build requirements test about extra files type
    run_exports noarch noarch_python always_include_files target track_features features
"""

SECTIONS: Final[Mapping[str, frozenset[str]]] = {
    "package": frozenset({"name", "version"}),
    "source": frozenset(_SOURCE.split()),
    "build": frozenset(_BUILD.split()),
    "requirements": frozenset({"build", "host", "run", "run_constrained", "conflicts"}),
    "test": frozenset(_TEST.split()),
    "about": frozenset(_ABOUT.split()),
    "app": frozenset({"entry", "icon", "summary", "type", "cli_opts", "own_environment"}),
    "outputs": frozenset(_OUTPUT.split()),
}
"""Section to its keys. `extra` is the recipe's own business: anything goes."""

LINK_SCRIPTS: Final = ("pre-link", "post-link", "pre-unlink")
"""Keys of `build` that name a script for the package's arrival or leave; the top level's lie beside meta.yaml."""

FREE_SECTIONS: Final = frozenset({"extra"})
RUN_EXPORTS: Final = frozenset({"weak", "strong", "noarch", "weak_constrains", "strong_constrains"})
BUILD_LISTS: Final = frozenset(
    {
        "ignore_run_exports", "ignore_run_exports_from", "entry_points", "force_use_keys", "force_ignore_keys",
        "track_features", "features", "missing_dso_whitelist", "runpath_whitelist", "rpaths", "always_include_files",
        "no_link", "skip_compile_pyc", "has_prefix_files", "binary_has_prefix_files", "overlinking_ignore_patterns",
    }
)  # fmt: skip
"""Keys of `build` whose value is a list of strings; a single string stands for a list of one."""

ABOUT_KEYS: Final = {
    "home": "homepage",
    "dev_url": "repository",
    "doc_url": "documentation",
    "license_family": "license_family",
    "summary": "summary",
    "description": "description",
}
"""Keys of `about`, and what they are called in recipe.yaml."""


def checked_folder(folder: str | None, *, where: str) -> str | None:
    """The folder that a source goes to.

    Raises:
        RecipeError: it leads out of the one that is built in.
    """
    if folder is not None and (folder.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", folder)):
        raise RecipeError(
            f"`folder: {folder}` leads out of the folder that is built in", where=where,
            hint="name a folder below the work folder, such as `folder: third_party/name`",
        )  # fmt: skip
    return folder
