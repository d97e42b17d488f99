#!/usr/bin/env bash
# For a machine with a GPU: builds src with its own CUDA, runs every CUDA test on the device, the C++ ones and a choice of the others
# under compute-sanitizer, and measures. Needs a driver, the CUDA toolkit (12.4 or newer, with compute-sanitizer), CMake, Ninja, a
# C++ compiler that nvcc takes, Highway and a BLAS, and a Python with setuptools, PyYAML, numpy and pytest.
#
#   bench/on_gpu.sh [--dry-run] [--installed] [--only REGEX] [PYTHON_WITH_PYTORCH]
#
# It compiles for the device that CUDA_VISIBLE_DEVICES names first, else the first of all. PYTHON (python3) is the one that torch is
# built for; PYTHON_WITH_PYTORCH has another torch, which bench/torch_cuda.py measures beside this one. LOGS is the folder of logs (dist/on_gpu).
# --dry-run says what would be run, and whether the machine has what it takes; it needs no GPU. --installed builds nothing: it tests and
# measures the torch that PYTHON has (the channel's packages), and leaves the C++ tests out. --only takes the steps whose names
# match. Libraries of CUDA that stand in wheels of PYTHON (nvidia-cublas) are used where the toolkit has none.
# PYTEST_ADDOPTS="-n 8" runs tests beside each other, where there is pytest-xdist.
# Ends with a line per step; the exit status is 1 if one failed.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
logs=${LOGS:-$root/dist/on_gpu}
dry=
installed=
only=.
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry=1 ;;
    --installed) installed=1 ;;
    --only)
      only=${2:?on_gpu.sh: --only takes the names of steps, as a regular expression}
      shift
      ;;
    -*)
      echo "on_gpu.sh: no option $1; there are --dry-run, --installed and --only REGEX" >&2
      exit 2
      ;;
    *) break ;;
  esac
  shift
done
other=${1:-}

# ---- what the machine has
lacking=()
has() { # NAME COMMAND...: notes what is missing
  local name=$1
  shift
  "$@" > /dev/null 2>&1 || lacking+=("$name")
}
# Not every machine has the toolkit on its path.
if ! command -v nvcc > /dev/null && [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
  export PATH="${CUDA_HOME:-/usr/local/cuda}/bin:$PATH"
fi
# Wheels have each library in a folder of its own, and not under the name that a linker looks for: links stand in for a toolkit.
toolkit=$(dirname "$(dirname "$(command -v nvcc)")") || toolkit=/nonexistent
if [ ! -e "$toolkit/include/cublas_v2.h" ] && wheels=$("$python" -c 'import nvidia; print(*nvidia.__path__)' 2> /dev/null); then
  links=$logs/wheels
  mkdir -p "$links/lib" "$links/include"
  for library in "$wheels"/*/lib/lib*.so.*; do
    name=${library##*/}
    ln -sf "$library" "$links/lib/$name"
    ln -sf "$name" "$links/lib/${name%%.so.*}.so"
  done
  for folder in "$wheels"/*/include; do cp -rsf "$folder/." "$links/include/"; done
  export CMAKE_PREFIX_PATH=$links${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH} CPATH=$links/include${CPATH:+:$CPATH}
  export LIBRARY_PATH=$links/lib${LIBRARY_PATH:+:$LIBRARY_PATH} LD_LIBRARY_PATH=$links/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
has "a driver (nvidia-smi)" nvidia-smi
[ -n "$installed" ] || for program in nvcc cmake ninja ctest; do has "$program" command -v "$program"; done
[[ ! memcheck-python =~ $only ]] || has compute-sanitizer command -v compute-sanitizer
for module in $([ -n "$installed" ] || echo setuptools yaml) numpy pytest; do has "$module, of $python" "$python" -c "import $module"; done
[ -z "$other" ] || has "a torch with CUDA, of $other" env -u PYTHONPATH "$other" -c "import torch; assert torch.cuda.is_available()"
if [ ${#lacking[@]} -gt 0 ]; then
  printf 'on_gpu.sh: this machine lacks %s\n' "${lacking[@]}" >&2
  [ -n "$dry" ] || exit 1
fi

# 9.0 -> 90
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader --id="${CUDA_VISIBLE_DEVICES:-0}" 2> /dev/null | head -n 1 | tr -d .) || true
case $capability in
  '' | *[!0-9]*)
    [ -n "$dry" ] || {
      echo "on_gpu.sh: nvidia-smi does not say what the device can do (compute_cap); CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-}" >&2
      exit 1
    }
    capability=90
    ;;
  *) ;;
esac

# ---- steps
summary=()
status=0
step() { # NAME COMMAND...: runs it, an hour at most, with a log of its own, and goes on after a failure
  local name=$1 started=$SECONDS result=passed
  shift
  [[ $name =~ $only ]] || return 0
  if [ -n "$dry" ]; then
    printf '%s:' "$name"
    printf ' %q' "$@"
    echo
    return
  fi
  echo "==== $name"
  # A kernel that never ends must not keep the others from being tried.
  if ! timeout --kill-after=60 3600 "$@" 2>&1 | tee "$logs/$name.log"; then
    result=FAILED
    status=1
  fi
  summary+=("$(printf '%-28s %-7s %5d s  %s' "$name" "$result" $((SECONDS - started)) "$logs/$name.log")")
}
need() { # NAME COMMAND...: a step without which there is nothing to test
  step "$@"
  [ "$status" = 0 ] || finish
}
finish() {
  [ ${#summary[@]} -eq 0 ] || printf '%s\n' "" "${summary[@]}"
  exit "$status"
}
[ -n "$dry" ] || mkdir -p "$logs"

cd "$root"
if [ -z "$installed" ]; then
  # The C++ tests belong to the build; the plug-in lands beside libtorch, in src/torch/lib, where libtorch looks for it.
  export CMAKE_ARGS="-DTORCH_BUILD_CUDA=ON -DTORCH_BUILD_TESTS=ON -DTORCH_CUDA_ARCHITECTURES=$capability-real ${CMAKE_ARGS:-}"
  export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
  export PYTHONPATH=$root/src${PYTHONPATH:+:$PYTHONPATH}
  need build-libtorch env -C src "$python" setup.py build_deps
  need build-bindings env -C src "$python" setup.py build_ext
  need build-rest cmake --build src/build --parallel
  need install-plugin cmake --install src/build --component cuda
fi
# Without a device the tests would be skipped one by one, and all be green.
need device "$python" -c 'import torch; torch.cuda.init(); print(torch.version.cuda, torch.cuda.get_device_name(), torch.cuda.get_arch_list())'

[ -n "$installed" ] || step cpp-tests ctest --test-dir src/build --output-on-failure --no-tests=error
# pytest-benchmark, where it is installed, warns beside pytest-xdist, and warnings are errors.
tests=("$python" -P -m pytest -q -p no:cacheprovider -p no:benchmark -o pythonpath=tests/torch)
everything=(tests/torch/test_cuda*.py)
step python-tests "${tests[@]}" "${everything[@]}"
# Each tensor in memory of its own: what lies behind it is not another one's.
step python-tests-uncached env PYTORCH_NO_CUDA_MEMORY_CACHING=1 "${tests[@]}" "${everything[@]}"

# The sanitizer slows programs down by ten and more: all tests once, with each of the other tools the C++ ones and the operators on
# float32. What is meant to fail on the device (out_of_range, out_of_memory) it would report. Programs that tests start are not watched.
sanitize=(compute-sanitizer --error-exitcode 9 --report-api-errors no)
export PYTORCH_NO_CUDA_MEMORY_CACHING=1
[ -n "$installed" ] || export TORCH_BACKEND_PATH=$root/src/torch/lib
expected="not out_of_range and not out_of_memory"
[ -n "$installed" ] || for tool in memcheck racecheck synccheck initcheck; do
  step "$tool-cpp" "${sanitize[@]}" --tool "$tool" src/build/bin/test_cuda_streams
done
step memcheck-python "${sanitize[@]}" --tool memcheck "${tests[@]}" -k "$expected" "${everything[@]}"
for tool in racecheck synccheck initcheck; do
  step "$tool-python" "${sanitize[@]}" --tool "$tool" "${tests[@]}" -k "$expected and float32" tests/torch/test_cuda_operators.py
done

unset PYTORCH_NO_CUDA_MEMORY_CACHING TORCH_BACKEND_PATH
step measure "$python" bench/torch_cuda.py ${other:+--beside "$other"}
finish
