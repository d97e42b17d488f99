"""Time and resident memory of `import torch`, each in fresh processes, next to another torch.

./slipway bench torch_import [--reference PYTHON] [--runs N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

PROGRAM = """
import sys, time
def resident():
    with open('/proc/self/status') as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith('VmRSS'))
before, start = resident(), time.perf_counter()
import torch
seconds, modules = time.perf_counter() - start, len(sys.modules)
import json
after = resident()
figures = {'seconds': seconds, 'resident': after, 'added': after - before, 'modules': modules}
print(json.dumps({**figures, 'version': torch.__version__}))
"""


def measure(python: str, runs: int) -> dict[str, float | str]:
    """Medians over `runs` processes, after one that warms the disk's cache."""
    samples = []
    for number in range(runs + 1):
        result = subprocess.run([python, "-c", PROGRAM], capture_output=True, text=True, check=True)
        if number:
            samples.append(json.loads(result.stdout))
    medians = {key: statistics.median(sample[key] for sample in samples) for key in samples[0] if key != "version"}
    return {**medians, "version": samples[0]["version"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", metavar="PYTHON", help="interpreter of an environment with another torch")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    for python in filter(None, (sys.executable, options.reference)):
        figures = measure(python, options.runs)
        print(
            f"torch {figures['version']}: import {figures['seconds']:.3f} s, {figures['resident']:.0f} MB resident "
            f"({figures['added']:.0f} MB of them by the import), {figures['modules']:.0f} modules"
        )


if __name__ == "__main__":
    main()
