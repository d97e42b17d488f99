#!/usr/bin/env bash
# MAGMA's own build compiles ten times as many files; CMakeLists.txt beside this script takes those of sources.txt.
set -euo pipefail
# The folder of this build is not to show in what is built.
LDFLAGS=${LDFLAGS:-}
export LDFLAGS=${LDFLAGS//-Wl,-rpath,$PREFIX\/lib/}
options=()
if [ -x "$BUILD_PREFIX/bin/sccache" ]; then
  # C++ alone, most of the files: sccache does not know every nvcc.
  options=("-DCMAKE_CXX_COMPILER_LAUNCHER=$BUILD_PREFIX/bin/sccache")
fi
# CMAKE_ARGS is a list of words by design.
# shellcheck disable=SC2086
cmake ${CMAKE_ARGS:-} -G Ninja -S "$RECIPE_DIR" -B build -DMAGMA_SOURCE_DIR="$SRC_DIR" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_PREFIX_PATH="$PREFIX" "${options[@]}"
cmake --build build --parallel "${CPU_COUNT:-1}"
cmake --install build --strip
