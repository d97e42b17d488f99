"""Selectors: ``- mkl  # [blas_impl == "mkl"]`` keeps its line only where the expression holds.

A line *ends* in its selector, with or without ``#``; the rule is the dialect's, so a flow list at a line's end is taken
for one. Expressions are Python's, evaluated here by walking their syntax tree: names, literals, comparisons, boolean
and integer arithmetic, a few string methods and look-ups in the environment. Nothing else can run.
"""

from __future__ import annotations

import ast
import difflib
import operator
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from slipway.base.errors import RecipeError, RecipeWarning
from slipway.base.platform import NOARCH
from slipway.recipe import defaults

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slipway.base.platform import Platform

_SELECTOR = re.compile(r"(?P<text>.+?)\s*(?P<hash>#.*)?\[(?P<selector>[^\[\]]+)\](?(hash)[^()]*)$")

_COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, container: item in container, ast.NotIn: lambda item, container: item not in container,
}  # fmt: skip
_ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "int": int, "str": str, "float": float, "bool": bool, "len": len, "any": any, "all": all, "tuple": tuple,
}  # fmt: skip
_STRING_METHODS: Final = frozenset(
    {"startswith", "endswith", "lower", "upper", "strip", "lstrip", "rstrip", "split", "replace", "find", "count"}
)


class Environment(dict[str, str]):
    """``environ`` of selectors: the variables that the caller passed in, never the process's own."""


@dataclass(frozen=True)
class OsNamespace:
    """``os`` of selectors and templates: its environment, and nothing else."""

    environ: Environment


@dataclass(frozen=True)
class Line:
    """One line of a file that carries selectors.

    Attributes:
        number: position in the file, from 1.
        text: the line without its selector; comment lines are empty.
        selector: the expression, or None.
        raw: the line as written.
    """

    number: int
    text: str
    selector: str | None
    raw: str


def split_lines(text: str) -> tuple[Line, ...]:
    """Cut a file into lines and take the selector off each."""
    lines = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.rstrip()
        if not line or line.lstrip().startswith("#"):
            lines.append(Line(number, "", None, raw))
            continue
        match = _SELECTOR.match(line) if "[" in line and "]" in line else None
        if match is None:
            lines.append(Line(number, line, None, raw))
            continue
        # Someone may have quoted the whole line to please YAML.
        quote = line[-1] if line[-1] in "'\"" else ""
        lines.append(Line(number, (match["text"] + quote).rstrip(), match["selector"], raw))
    return tuple(lines)


_LIST_HINT: Final = "write a list with one `- item` on a line"
_LIST_CODE: Final = "list-taken-for-a-selector"


def _looks_like_a_list(line: Line) -> bool:
    return line.selector is not None and line.text.endswith((":", "-")) and "#" not in line.raw


def warn_of_lists(lines: tuple[Line, ...], path: str) -> None:
    """Warn of lists that are taken for selectors."""
    for line in filter(_looks_like_a_list, lines):
        said = RecipeWarning(
            f"`[{line.selector}]` is taken for a selector, as conda-build does with brackets at a line's end",
            where=f"{path}:{line.number}", hint=_LIST_HINT, code=_LIST_CODE,
        )  # fmt: skip
        warnings.warn(said, stacklevel=2)


def warn_of_unknown_names(lines: tuple[Line, ...], namespace: Mapping[str, Any], path: str) -> None:
    """Warn of selectors that are probably none, and of names that nothing defines: these count as False."""
    warn_of_lists(lines, path)
    for line in lines:
        if line.selector is None or _looks_like_a_list(line):
            continue
        where = f"{path}:{line.number}"
        try:
            names = [node.id for node in ast.walk(ast.parse(line.selector.strip())) if isinstance(node, ast.Name)]
        except (SyntaxError, RecursionError, MemoryError):
            continue  # `holds` says what is wrong
        for name in names:
            if name not in namespace and name not in _FUNCTIONS:
                close = difflib.get_close_matches(name, namespace, n=1, cutoff=0.7)
                hint = f"did you mean `{close[0]}`?" if close else "it is no platform and no variant key of this recipe"
                said = RecipeWarning(
                    f"the selector `[{line.selector}]` names `{name}`, which nothing defines: it counts as False",
                    where=where, hint=hint, code="unknown-selector-name",
                )  # fmt: skip
                warnings.warn(said, stacklevel=2)


def select(lines: tuple[Line, ...], namespace: Mapping[str, Any], path: str) -> tuple[Line, ...]:
    """Keep the lines without a selector and those whose selector holds.

    Raises:
        RecipeError: a selector is not an expression of the dialect; says which line of `path`.
    """
    kept = []
    for line in lines:
        try:
            if line.selector is None or holds(line.selector, namespace, f"{path}:{line.number}"):
                kept.append(line)
        except RecipeError as error:
            if _looks_like_a_list(line):
                error.hint, error.code = _LIST_HINT, _LIST_CODE
            raise
    return tuple(kept)


def holds(selector: str, namespace: Mapping[str, Any], where: str) -> bool:
    """Evaluate one selector; a name that nothing defines counts as False, as it does for conda-build.

    Raises:
        RecipeError: it cannot be parsed, uses something that selectors may not, or fails.
    """
    hint = "write a Python expression of platform names, variant keys and literals, such as `[linux and py >= 311]`"
    try:
        tree = ast.parse(selector.strip(), mode="eval")
        return bool(_Evaluator(namespace).visit(tree.body))
    except SyntaxError as error:
        raise RecipeError(
            f"selector `[{selector}]` is not an expression: {error.msg}", where=where, hint=hint
        ) from None
    except _NotAllowedError as error:
        raise RecipeError(
            f"selector `[{selector}]` uses {error}, which is not allowed", where=where, hint=hint
        ) from None
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, ArithmeticError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise RecipeError(f"selector `[{selector}]` cannot be evaluated: {reason}", where=where, hint=hint) from None
    except (RecursionError, MemoryError):
        raise RecipeError(f"selector `[{selector}]` is nested too deeply", where=where, hint=hint) from None


class _NotAllowedError(Exception):
    pass


class _Evaluator(ast.NodeVisitor):
    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def generic_visit(self, node: ast.AST) -> Any:
        raise _NotAllowedError(f"`{ast.unparse(node)}`")

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def visit_Name(self, node: ast.Name) -> Any:
        return self._namespace.get(node.id, False)

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.visit(item) for item in node.elts)

    def visit_List(self, node: ast.List) -> Any:
        return [self.visit(item) for item in node.elts]

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        stop_at = isinstance(node.op, ast.Or)
        value: Any = None
        for operand in node.values:
            value = self.visit(operand)
            if bool(value) is stop_at:
                break
        return value

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return not value
        if isinstance(node.op, ast.USub) and isinstance(value, int | float):
            return -value
        raise _NotAllowedError(f"`{ast.unparse(node)}`")

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.visit(node.left), self.visit(node.right)
        function = _ARITHMETIC.get(type(node.op))
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        texts = isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add)
        if function is None or not (numbers or texts):
            raise _NotAllowedError(f"`{ast.unparse(node)}`")
        return function(left, right)

    def visit_Compare(self, node: ast.Compare) -> Any:
        left = self.visit(node.left)
        for comparison, operand in zip(node.ops, node.comparators, strict=True):
            right = self.visit(operand)
            if not _COMPARISONS[type(comparison)](left, right):
                return False
            left = right
        return True

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self.visit(node.body if self.visit(node.test) else node.orelse)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        value = self.visit(node.value)
        if not isinstance(value, str | tuple | list | Environment) or isinstance(node.slice, ast.Slice):
            raise _NotAllowedError(f"`{ast.unparse(node)}`")
        return value[self.visit(node.slice)]

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        value = self.visit(node.value)
        if isinstance(value, OsNamespace) and node.attr == "environ":
            return value.environ
        raise _NotAllowedError(f"`{ast.unparse(node)}`")

    def visit_Call(self, node: ast.Call) -> Any:
        if node.keywords:
            raise _NotAllowedError(f"`{ast.unparse(node)}`")
        arguments = [self.visit(argument) for argument in node.args]
        if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*arguments)
        if isinstance(node.func, ast.Attribute):
            owner, method = self.visit(node.func.value), node.func.attr
            if isinstance(owner, str) and method in _STRING_METHODS:
                return getattr(owner, method)(*arguments)
            if isinstance(owner, Environment) and method == "get":
                return owner.get(*arguments)
            if isinstance(owner, OsNamespace) and method == "getenv":
                return owner.environ.get(*arguments)
        raise _NotAllowedError(f"`{ast.unparse(node)}`")


def namespace(variant: Mapping[str, Any], *, platform: Platform, environ: Mapping[str, str]) -> dict[str, Any]:
    """Everything a selector may name, for one variant.

    Variant values that look like integers or booleans are converted, which makes ``[c_compiler_version > 12]`` compare
    numbers; in templates the same values stay strings.

    Args:
        variant: the values in force; missing keys fall back to conda-build's defaults.
        platform: what is built for, and what on; `variant` may name another as ``target_platform``.
        environ: environment variables; they go before variant keys of the same name.
    """
    target = defaults.target_of(variant, platform)
    system = target.system
    names: dict[str, Any] = {name: name == system for name in defaults.SYSTEMS}
    names |= {name: name == target.architecture for name in defaults.ARCHITECTURES}
    names["x86"] = target.is_x86
    names["unix"] = not target.is_windows and system != NOARCH
    names["arm"] = target.architecture.startswith("arm")
    for bits in ("32", "64"):
        names |= {f"{name}{bits}": system == name and target.suffix == bits for name in ("linux", "win", "osx")}
    environment = Environment(environ)
    names |= {
        "os": OsNamespace(environment),
        "environ": environment,
        "build_platform": platform.built_on or platform.subdir,
    }
    names["nomkl"] = environ.get("FEATURE_NOMKL", "0") not in ("", "0")
    names |= _language_names(variant)
    names |= environ
    for key, value in variant.items():
        if key not in names:
            names[key] = converted(value)
    return names


def _language_names(variant: Mapping[str, Any]) -> dict[str, Any]:
    python = str(variant.get("python", defaults.VARIANT_KEYS["python"])).split(" ")[0].split(".")
    numpy = str(variant.get("numpy", defaults.VARIANT_KEYS["numpy"])).split(" ")[0].split(".")
    lua = str(variant.get("lua", defaults.VARIANT_KEYS["lua"]))
    py = int("".join(part for part in python[:2] if part.isdigit()) or 0)
    names: dict[str, Any] = {
        "py": py,
        "py3k": python[0] == "3",
        "py2k": python[0] == "2",
        "np": int("".join(part for part in numpy[:2] if part.isdigit()) or 0),
        "pl": str(variant.get("perl", defaults.VARIANT_KEYS["perl"])),
        "lua": lua,
        "luajit": lua.startswith("2"),
    }
    names |= {f"py{version}": py == version for version in (26, 27, 33, 34, 35, 36)}
    return names


def converted(value: Any) -> Any:
    """A variant's value as selectors see it: ``"12"`` is 12, ``"True"`` is True, everything else is a string."""
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return {"true": True, "false": False}.get(value.lower(), value)
    return value
