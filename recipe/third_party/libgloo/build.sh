#!/usr/bin/env bash
# TCP only: without Redis and InfiniBand, which no process group of ours uses. Its CMake files are older than what
# today's CMake reads without being told.
set -euo pipefail
# It leaves out a header that older compilers' others brought along.
export CXXFLAGS="${CXXFLAGS:-} -include array"
# CMAKE_ARGS is a list of words by design.
# shellcheck disable=SC2086
cmake ${CMAKE_ARGS:-} -G Ninja -S "$SRC_DIR" -B build \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DBUILD_SHARED_LIBS=ON -DUSE_REDIS=OFF -DUSE_IBVERBS=OFF -DBUILD_TEST=OFF
cmake --build build --parallel "${CPU_COUNT:-1}"
cmake --install build --strip
