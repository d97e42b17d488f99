set -eu
cmake $CMAKE_ARGS -G Ninja -S . -B build -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_PREFIX_PATH="$PREFIX"
cmake --build build
cmake --install build --strip
