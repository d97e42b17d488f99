"""`FileCheck`: whether a text has some lines in some order, for tests of what prints programs."""

from __future__ import annotations

import re

_IN_TEXT = re.compile(r"#\s*CHECK(?:-(NOT|NEXT|SAME|DAG|REGEX|SOURCE-HIGHLIGHTED|COUNT-(?:EXACTLY-)?(\d+)))?:\s*(.*)")


class FileCheck:
    """What a text has to have, one after the other; `run(text)` raises RuntimeError if it has not.

    >>> torch.testing.FileCheck().check("first").check_not("error").check_next("second").run("the first\\nthe second")
    """

    def __init__(self) -> None:
        self._checks: list[tuple[str, str, int, bool]] = []  # kind, text, how often, and no more

    def _add(self, kind: str, text: str, count: int = 1, exactly: bool = False) -> FileCheck:
        self._checks.append((kind, text, count, exactly))
        return self

    def check(self, test_string: str) -> FileCheck:
        """It comes after what was found before."""
        return self._add("CHECK", test_string)

    def check_not(self, test_string: str) -> FileCheck:
        """It does not come between what was found before and what is found next."""
        return self._add("CHECK-NOT", test_string)

    def check_next(self, test_string: str) -> FileCheck:
        """It comes on the line after what was found before."""
        return self._add("CHECK-NEXT", test_string)

    def check_same(self, test_string: str) -> FileCheck:
        """It comes on the same line as what was found before."""
        return self._add("CHECK-SAME", test_string)

    def check_count(self, test_string: str, count: int, exactly: bool = False) -> FileCheck:
        """It comes so many times; `exactly` says that it does not come again up to what is found next."""
        return self._add("CHECK-COUNT", test_string, count, exactly)

    def check_dag(self, test_string: str) -> FileCheck:
        """It comes; neighbours of this kind come in any order."""
        return self._add("CHECK-DAG", test_string)

    def check_regex(self, test_string: str) -> FileCheck:
        """A regular expression matches after what was found before."""
        return self._add("CHECK-REGEX", test_string)

    def check_source_highlighted(self, test_string: str) -> FileCheck:
        """It comes with a line of ~ below it."""
        return self._add("CHECK-SOURCE-HIGHLIGHTED", test_string)

    def run(self, first: str, second: str | None = None) -> None:
        """Checks a text. With two, the first is a program whose comments "# CHECK: ..." say what the second has."""
        if second is not None:
            FileCheck._of_comments(first).run(second)
            return
        if not self._checks:
            raise RuntimeError("No checks have been added to this instance of FileCheck! Check for bad input.")
        place = 0  # where the search goes on
        forbidden: list[tuple[str, str]] = []  # up to what is found next
        group = 0  # where neighbours of CHECK-DAG begin
        before = ""
        for kind, text, count, exactly in self._checks:
            if kind == "CHECK-NOT":
                forbidden.append((kind, text))
                continue
            if kind != "CHECK-DAG" or before != "CHECK-DAG" or forbidden:
                group = place
            start, end = self._find(first, kind, text, count, group if kind == "CHECK-DAG" else place)
            label = f"{kind}-{count}" if kind == "CHECK-COUNT" else kind
            if kind in ("CHECK-NEXT", "CHECK-SAME"):
                lines = first.count("\n", place, start)
                if lines != (kind == "CHECK-NEXT"):
                    raise RuntimeError(f'Expected to find "{text}" {_WHERE[kind]}, but it is {lines} lines further\n'
                                       f"{first}\nFrom {label}: {text}\n")  # fmt: skip
            self._refuse(first, forbidden, place, start)
            forbidden = [("CHECK-NOT", text)] if exactly else []
            place, before = max(place, end) if kind == "CHECK-DAG" else end, kind
        self._refuse(first, forbidden, place, len(first))

    @staticmethod
    def _of_comments(program: str) -> FileCheck:
        check = FileCheck()
        for kind, count, text in _IN_TEXT.findall(program):
            if kind.startswith("COUNT"):
                check.check_count(text, int(count), "EXACTLY" in kind)
            else:
                check._add(f"CHECK-{kind}" if kind else "CHECK", text)
        return check

    @staticmethod
    def _find(text: str, kind: str, wanted: str, count: int, place: int) -> tuple[int, int]:
        """Where the first of `count` begins, and the last ends."""
        if kind == "CHECK-REGEX":
            match = re.search(wanted, text[place:])
            if match is None:
                raise RuntimeError(f'Expected to find regex "{wanted}" but did not find it\nSearched string:\n'
                                   f"{text[place:]}\nFrom {kind}: {wanted}\n")  # fmt: skip
            return place + match.start(), place + match.end()
        if kind == "CHECK-SOURCE-HIGHLIGHTED":
            return FileCheck._find_highlighted(text, wanted, place)
        label = f"{kind}-{count}" if kind == "CHECK-COUNT" else kind
        first = None
        for _ in range(count):
            start = text.find(wanted, place)
            if start < 0:
                raise RuntimeError(
                    f'Expected to find "{wanted}" but did not find it\nSearched string:\n{text[place:]}\n'
                    f"From {label}: {wanted}\n"
                )
            first = start if first is None else first
            place = start + len(wanted)
        return place if first is None else first, place

    @staticmethod
    def _find_highlighted(text: str, wanted: str, place: int) -> tuple[int, int]:
        start = text.find(wanted, place)
        while start >= 0:
            column = start - (text.rfind("\n", 0, start) + 1)
            line = text.find("\n", start) + 1
            below = text[line : text.find("\n", line) if "\n" in text[line:] else len(text)] if line else ""
            if below[column : column + len(wanted)] == "~" * len(wanted):
                return start, line + len(below)
            start = text.find(wanted, start + 1)
        raise RuntimeError(
            f'Expected to find "{wanted}" highlighted but it is not.\n{text}\nFrom CHECK-SOURCE-HIGHLIGHTED: {wanted}\n'
        )

    @staticmethod
    def _refuse(text: str, forbidden: list[tuple[str, str]], start: int, end: int) -> None:
        for kind, unwanted in forbidden:
            place = text.find(unwanted, start, end)
            if place >= 0:
                line = text.rfind("\n", 0, place) + 1
                mark = " " * (place - line) + "~" * len(unwanted) + " <--- HERE"
                shown = text[:end].split("\n")
                shown.insert(text.count("\n", 0, place) + 1, mark)
                raise RuntimeError(
                    f'Expected to not find "{unwanted}" but found it\n'
                    + "\n".join(shown)
                    + f"\nFrom {kind}: {unwanted}\n"
                )


_WHERE = {"CHECK-NEXT": "on the next line", "CHECK-SAME": "on the same line"}
