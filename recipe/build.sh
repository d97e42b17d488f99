#!/usr/bin/env bash
# Builds one output, chosen by PKG_NAME, from the sources in SRC_DIR into PREFIX. Works in conda-build, where all outputs
# share one dirty SRC_DIR, and in slipway, where each has its own.
set -euo pipefail

# Nothing but the environment that the recipe asked for may decide what is built.
unset CUDA_PATH CUDA_ROOT CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH
unset CMAKE_INCLUDE_PATH CMAKE_LIBRARY_PATH CMAKE_PROGRAM_PATH CMAKE_GENERATOR

# The folder of this build must not show in what is built, nor in the linker's hash of it (the build id): run paths are
# relative from the start, and the compilers' activation shall not add the prefix to them.
LDFLAGS=${LDFLAGS:-}
export LDFLAGS=${LDFLAGS//-Wl,-rpath,$PREFIX\/lib/}

build_dir=$SRC_DIR/build-$PKG_NAME

# A source tree that someone developed in holds libraries, caches and generated files; a package must not.
remove_leftovers() {
  rm -rf "$SRC_DIR/build" "$build_dir" "$SRC_DIR/torch/version.py" "$SRC_DIR/torch/lib/tmp_install" "$SRC_DIR"/*.egg-info
  # An output that does not read torch/ may get its sources without it (slipway.yaml).
  [ ! -d "$SRC_DIR/torch" ] || find "$SRC_DIR/torch" \( -name '*.so' -o -name '*.so.*' -o -name '*.pyc' -o -name '*.dylib' \) -type f -delete
  find "$SRC_DIR" -name __pycache__ -type d -prune -exec rm -rf {} +
}

# CMake and nvcc call `gcc` by name now and then: let that be the recipe's compiler, never the host's.
shadow_host_compilers() {
  local tools=$build_dir/tools name
  mkdir -p "$tools"
  for name in gcc cc; do ln -sf "$CC" "$tools/$name"; done
  for name in g++ c++; do ln -sf "$CXX" "$tools/$name"; done
  export PATH="$tools:$PATH"
}

# Compiles go through sccache where the recipe's environment has it; who builds decides where it keeps what it compiled.
compiler_launchers() {
  local language
  [ -x "$BUILD_PREFIX/bin/sccache" ] || return 0
  for language in "$@"; do
    options+=("-DCMAKE_${language}_COMPILER_LAUNCHER=$BUILD_PREFIX/bin/sccache")
  done
}

# sccache does the steps of nvcc by itself, which it cannot for every release: 0.16 not for 13.5.
compiles_cuda_through_sccache() {
  local probe=$build_dir/probe
  [ -x "$BUILD_PREFIX/bin/sccache" ] || return 1
  mkdir -p "$probe"
  echo '__global__ void probe() {}' > "$probe/probe.cu"
  "$BUILD_PREFIX/bin/sccache" "$BUILD_PREFIX/bin/nvcc" -ccbin="$CXX" -gencode=arch=compute_80,code=[sm_80] \
    -gencode=arch=compute_90,code=[compute_90,sm_90] -c "$probe/probe.cu" -o "$probe/probe.o" > "$probe/log" 2>&1 && return
  echo "CUDA files are compiled without sccache, which does not know this nvcc"
  return 1
}

# configure_and_install PART [OPTION...]: PART is CORE, CUDA, DISTRIBUTED, MPI, NCCL or PYTHON; what is off is found installed in PREFIX.
configure_and_install() {
  local part=$1 option
  shift
  local options=(-DTORCH_BUILD_TESTS=OFF)
  for option in CORE CUDA DISTRIBUTED MPI NCCL PYTHON; do
    options+=("-DTORCH_BUILD_$option=$([ "$option" = "$part" ] && echo ON || echo OFF)")
  done
  compiler_launchers C CXX
  if [ "$part" = CUDA ] && compiles_cuda_through_sccache; then compiler_launchers CUDA; fi
  # CMAKE_ARGS is a list of words by design.
  # shellcheck disable=SC2086
  cmake ${CMAKE_ARGS:-} -G Ninja -S "$SRC_DIR" -B "$build_dir" \
    -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_PREFIX_PATH="$PREFIX" \
    -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON \
    -DTORCH_BUILD_VERSION="$PKG_VERSION" \
    -DPython3_EXECUTABLE="$BUILD_PREFIX/bin/python" \
    "${options[@]}" "$@"
  cmake --build "$build_dir" --parallel "${CPU_COUNT:-1}"
  cmake --install "$build_dir" --strip
}

# The BLAS is read off the host environment: a variant key named in this file would become part of every output's hash,
# and the CUDA and Python parts would be built once per BLAS.
build_libtorch() {
  local blas
  if [ -e "$PREFIX/include/mkl.h" ]; then
    blas=MKL
  elif [ -e "$PREFIX/include/cblas.h" ]; then
    blas=OpenBLAS
  else
    echo "build.sh: neither MKL nor OpenBLAS is in the host environment" >&2
    exit 1
  fi
  configure_and_install CORE "-DTORCH_BLAS=$blas"
}

build_libtorch_cuda() {
  local magma=OFF cudnn=OFF
  [ ! -e "$PREFIX/include/magma_v2.h" ] || magma=ON
  [ ! -e "$PREFIX/lib/libcudnn.so" ] || cudnn=ON
  configure_and_install CUDA "-DTORCH_CUDA_MAGMA=$magma" "-DTORCH_CUDA_CUDNN=$cudnn"
}

build_libtorch_distributed() {
  configure_and_install DISTRIBUTED
}

build_libtorch_distributed_mpi() {
  configure_and_install MPI
}

build_libtorch_distributed_nccl() {
  configure_and_install NCCL
}

# write_script NAME MODULE [WORD]: a command that runs a module of the Python beside it.
write_script() {
  printf '%s\n' '#!/bin/sh' "exec \"\$(dirname \"\$0\")/python\" -m $2 \"\$@\"" > "$PREFIX/bin/$1"
  chmod 755 "$PREFIX/bin/$1"
}

# Where the host environment is another platform's, its Python does not run here: the headers say its version, and its
# sysconfig data what its modules are called.
build_pytorch() {
  local python=("-DPython_EXECUTABLE=$PYTHON")
  if [ "${CONDA_BUILD_CROSS_COMPILATION:-}" = 1 ]; then
    local facts=("$PREFIX"/lib/python"$PY_VER"/_sysconfigdata_*.py)
    python=("-DPython_INCLUDE_DIR=$PREFIX/include/python$PY_VER"
      "-DTORCH_PYTHON_SOABI=$("$BUILD_PREFIX/bin/python" -c 'import runpy, sys; print(runpy.run_path(sys.argv[1])["build_time_vars"]["SOABI"])' "${facts[0]}")")
  fi
  configure_and_install PYTHON "${python[@]}"
  # Who looks after the installed files: pip must not.
  echo conda > "$SP_DIR/torch-$PKG_VERSION.dist-info/INSTALLER"
  # Not entry points: those would name the folder they were built in, and be other bytes in another one.
  mkdir -p "$PREFIX/bin"
  write_script torchrun torch.distributed.run
  write_script torch-onnx-export "torch.onnx._commands export"
  write_script torch-from-onnx "torch.onnx._commands import"
}

case $PKG_NAME in
  libtorch | libtorch-cuda | libtorch-distributed | libtorch-distributed-mpi | libtorch-distributed-nccl | pytorch)
    remove_leftovers
    shadow_host_compilers
    "build_${PKG_NAME//-/_}"
    ;;
  *) ;; # torch-split, the recipe's top level: conda-build runs this script for it too, and there is nothing to do
esac
