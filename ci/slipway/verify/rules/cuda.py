"""Code for GPUs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slipway.base.events import ERROR, WARNING
from slipway.verify.policies import match_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.base.events import Finding
    from slipway.verify.rules.case import Case


def device_code(case: Case) -> Iterator[Finding]:
    """The architectures that a package has code for are those that its policy declares, no more and no less."""
    present: dict[str, str] = {}
    for entry in case.facts.files:
        for code in entry.elf.device_code if entry.elf else ():
            present.setdefault(str(code), entry.path)
    declared = next(
        (found for found in case.policies.cuda.lists if match_name(found.package, case.facts.package)), None
    )
    if declared is None:
        if present:
            cure = "say in ci/slipway/verify/data/cuda.yaml for which architectures it is meant"
            where = next(iter(present.values()))
            message = f"has code for {', '.join(sorted(present))}, and no list declares it"
            yield case.finding(WARNING, "device-code", where, message, cure)
        return
    if not case.facts.files:
        return  # a metapackage
    wanted = set(declared.architectures)
    if declared.declared_in:
        text = next((entry.text for entry in case.facts.files if entry.path == declared.declared_in), "")
        wanted = set(re.findall(r"\b(?:sm|compute)_\d+[a-z]?\b", text))
        if not wanted:
            cure = "let the package say it there, or name another file in the policy cuda.yaml"
            message = "does not say which device code the package is meant to hold"
            yield case.finding(ERROR, "device-code", declared.declared_in, message, cure)
            return
    place = declared.declared_in or "the policy cuda.yaml"
    for missing in sorted(wanted - present.keys()):
        cure = f"build it in (CMAKE_CUDA_ARCHITECTURES), or take it off the list in {place}"
        yield case.finding(ERROR, "device-code", "lib", f"has no code for {missing}, which is declared", cure)
    for extra in sorted(present.keys() - wanted):
        cure = f"leave it out (CMAKE_CUDA_ARCHITECTURES), or declare it in {place}"
        yield case.finding(ERROR, "device-code", present[extra], f"has code for {extra}, which is not declared", cure)
