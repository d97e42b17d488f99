"""Writes what PyTorch's answers to tests/torch/drivers are: python tests/torch/golden/make_drivers.py [NAME...]

In an environment with torch 2.13, where the libraries are installed; docs/programs.md says how. Without names: all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
ANSWERS = HERE / "drivers.json"
DRIVERS = HERE.parent / "drivers"
PACKAGES = {
    "audiomentations": "torch-audiomentations",
    "backpack": "backpack-for-pytorch",
    "blitz": "blitz-bayesian-pytorch",
    "cooper": "cooper-optim",
    "curvlinops": "curvlinops-for-pytorch",
    "denoising_diffusion": "denoising-diffusion-pytorch",
    "esm": "fair-esm",
    "facenet": "facenet-pytorch",
    "freia": "FrEIA",
    "grad_cam": "grad-cam",
    "hummingbird": "hummingbird-ml",
    "ignite": "pytorch_ignite",
    "laplace": "laplace-torch",
    "mace": "mace-torch",
    "mmcv": "mmcv-lite",
    "neuralop": "neuraloperator",
    "nnaudio": "nnAudio",
    "open_clip": "open_clip_torch",
    "optimum_quanto": "optimum-quanto",
    "ot": "POT",
    "prodigy": "prodigyopt",
    "pyro": "pyro_ppl",
    "scvi": "scvi-tools",
    "segment_anything": "segment-anything",
    "tltorch": "tensorly-torch",
    "torch_ema": "torch-ema",
    "torch_lr_finder": "torch-lr-finder",
    "torchcrf": "pytorch-crf",
    "unfoldnd": "unfoldNd",
    "whisper": "openai-whisper",
    "x_clip": "x-clip",
}


def package_of(name: str) -> str:
    """The package that a program shows, by the program's name."""
    plain = name.removeprefix("use_")
    return "transformers" if plain.startswith("transformers_") else PACKAGES.get(plain, plain)


def main() -> None:
    answers = json.loads(ANSWERS.read_text(encoding="utf-8"))
    for name in sys.argv[1:] or sorted(path.stem for path in DRIVERS.glob("use_*.py")):
        run = subprocess.run(
            [sys.executable, "-W", "ignore", str(DRIVERS / f"{name}.py")],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        package = package_of(name)
        answers[name] = {"output": run.stdout, "package": package, "version": version(package)}
    ANSWERS.write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
