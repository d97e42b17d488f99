// The driver's functions that load and start what the emulated NVRTC has made.

#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

using Start = void (*)(dim3 grid, dim3 block, cudaStream_t stream, void** values);

// Of a shared library: what ends with the table of sections.
size_t size_of(const char* image) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image);
  return header->e_shoff + size_t{header->e_shentsize} * header->e_shnum;
}

constexpr int kNotFound = 500;
constexpr int kInvalidImage = 200;

}  // namespace

extern "C" {

int cuModuleLoadData(void** module, const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (std::string(bytes, 4) != ELFMAG) return kInvalidImage;
  char path[] = "/tmp/emulated_module_XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return kInvalidImage;
  close(file);
  std::ofstream(path, std::ios::binary).write(bytes, static_cast<std::streamsize>(size_of(bytes)));
  *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  return *module ? 0 : kInvalidImage;
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = dlsym(module, name);
  return *function ? 0 : kNotFound;
}

int cuFuncSetAttribute(void*, int, int) { return 0; }

// A device on no bus, and what a block of it may have.
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  switch (attribute) {
    case 1: *value = 1024; return 0;                  // CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    case 8: case 97: *value = 48 * 1024; return 0;    // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, _OPTIN
    case 10: *value = 32; return 0;                   // CU_DEVICE_ATTRIBUTE_WARP_SIZE
    case cudaDevAttrMultiProcessorCount:
    case cudaDevAttrL2CacheSize:
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device);
    default: *value = 0; return 0;
  }
}

int cuDeviceGetUuid_v2(unsigned char* bytes, int device) {
  std::fill_n(bytes, 16, static_cast<unsigned char>(device));
  return 0;
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned, cudaStream_t stream, void** values, void**) {
  reinterpret_cast<Start>(function)(dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), stream, values);
  const cudaError_t error = cudaGetLastError();
  return error == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : error;  // the driver has one error for both
}

int cuGetErrorString(int code, const char** text) {
  *text = code == kNotFound       ? "named symbol not found"
          : code == kInvalidImage ? "device kernel image is invalid"
                                  : cudaGetErrorString(static_cast<cudaError_t>(code));
  return 0;
}
}
