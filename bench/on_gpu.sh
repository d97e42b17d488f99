#!/usr/bin/env bash
# For a machine with a GPU: builds src with its own CUDA, runs every CUDA test on the device, once more under compute-sanitizer, and
# measures. Needs CUDA 13, CMake, Ninja, a C++ compiler, Highway and a BLAS, and a Python with setuptools, PyYAML, numpy and pytest.
#   bench/on_gpu.sh [PYTHON_WITH_PYTORCH]
# It compiles for the first device that nvidia-smi names.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
export CMAKE_ARGS="-DTORCH_BUILD_CUDA=ON -DTORCH_CUDA_ARCHITECTURES=$capability-real ${CMAKE_ARGS:-}"
export PYTHONPATH=$root/src

cd "$root/src"
time "$python" setup.py build_deps
cmake --build build --parallel
cmake --install build --component cuda
"$python" setup.py build_ext

cd "$root"
tests=("$python" -P -m pytest -q -p no:cacheprovider -o pythonpath=tests/torch)
status=0
# Each tensor in memory of its own: what lies behind it is not another one's.
PYTORCH_NO_CUDA_MEMORY_CACHING=1 "${tests[@]}" tests/torch/test_cuda*.py || status=1
"${tests[@]}" tests/torch/test_cuda*.py || status=1
if command -v compute-sanitizer > /dev/null; then
  for tool in memcheck racecheck synccheck initcheck; do
    PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool "$tool" --error-exitcode 9 --target-processes all \
      "${tests[@]}" -k "not out_of_range and not out_of_memory" tests/torch/test_cuda*.py || status=1
  done
fi
"$python" bench/torch_cuda.py ${1:+--beside "$1"}
exit "$status"
