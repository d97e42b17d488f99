// What all engines do alike.
#include <torch/lib/libtorch_distributed/reductions.h>
#include <torch/lib/libtorch_distributed/status.h>

#include <vector>

using namespace torch::distributed;

const char* torch_distributed_version() { return TORCH_DISTRIBUTED_VERSION; }
const char* torch_distributed_error() { return last_error.c_str(); }

void torch_distributed_receive(void* sink, const char* bytes, size_t size) {
  static_cast<std::vector<char>*>(sink)->assign(bytes, bytes + size);
}

int torch_distributed_combine(
    char* data, const char* other, size_t elements, const char* dtype, const char* operation) {
  return guarded([&] { find_reduction(dtype, operation).reduce(data, data, other, elements); });
}
