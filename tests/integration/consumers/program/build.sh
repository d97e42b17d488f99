# Builds, installs and runs the project against the libtorch in CONDA_PREFIX.
set -eu
cmake ${CMAKE_ARGS:-} -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$CONDA_PREFIX" \
  -DCMAKE_INSTALL_PREFIX="$PWD/installed"
cmake --build build
cmake --install build
./installed/bin/fit
