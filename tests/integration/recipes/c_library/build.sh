#!/bin/bash
# Runs once for all outputs: each of them takes its files from what is installed here.
set -euxo pipefail

for shared in ON OFF; do
  cmake $CMAKE_ARGS -G Ninja -S . -B "build-$shared" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=$shared
  cmake --build "build-$shared" -j "$CPU_COUNT"
done
cmake --install build-OFF --component static
cmake --install build-ON
