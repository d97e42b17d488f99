#pragma once
// The plug-in's other libraries lie beside it, and are loaded when they are first needed: what they link (cuBLAS,
// cuFFT) is hundreds of megabytes.

#include <c10/util/Exception.h>

#include <dlfcn.h>

#include <string>

namespace at::native::cuda {

// `function` of `library`, a file beside this one. `purpose` and `package` are for the message if it cannot be loaded.
template <typename Function>
Function load_function(const char* library, const char* function, const char* purpose, const char* package) {
  Dl_info here;
  TORCH_CHECK(dladdr(reinterpret_cast<const void*>(&load_function<Function>), &here) != 0,
              "cannot find the file of libtorch_cuda: ", dlerror());
  const std::string self = here.dli_fname;
  const std::string path = self.substr(0, self.rfind('/') + 1) + library;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  TORCH_CHECK(handle != nullptr, purpose, " on CUDA need ", library, ", which could not be loaded: ", dlerror(),
              "\nInstall the libtorch-cuda package with its dependencies (", package, ").");
  auto* found = reinterpret_cast<Function>(dlsym(handle, function));
  TORCH_CHECK(found != nullptr, path, " has no ", function, ": ", dlerror());
  return found;
}

}  // namespace at::native::cuda
