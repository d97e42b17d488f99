# Builds and runs the C++ consumer against the installed libtorch, in a folder of its own.
# `build_consumer.sh cuda` also asks for the CUDA add-on, which must load, or say why it cannot be used here.
set -euo pipefail

cmake ${CMAKE_ARGS:-} -G Ninja -S tests/consumer -B build-consumer -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_BUILD_RPATH="$PREFIX/lib"
cmake --build build-consumer
./build-consumer/consumer "$@"
