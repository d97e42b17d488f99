#include <aten/AbiTag.h>
#include <aten/Plugin.h>
#include <c10/core/Backend.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <dlfcn.h>

namespace at {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libtorch_cuda.so";
constexpr const char* kEntry = "torch_plugin_info";

struct PluginState {
  const PluginInfo* info = nullptr;
  std::string reason;  // empty: the devices can be used
};

// The folder of the library that this code is in, with symbolic links as they are: a package manager may link files
// one by one into an environment.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&abi_tag), &info) == 0 || info.dli_fname == nullptr) return "";
  return fs::path(info.dli_fname).parent_path().string();
}

std::vector<std::string> search_folders() {
  std::vector<std::string> folders{own_folder()};
  const char* given = std::getenv("TORCH_BACKEND_PATH");
  const std::string_view path = given ? given : "";
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) folders.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

PluginState open_plugin(const std::string& file) {
  PluginState state;
  // RTLD_NOW: a symbol that is missing is a reason to tell now, not a crash later.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* message = dlerror();
    state.reason = "the plug-in " + file + " cannot be loaded: " + (message ? message : "unknown error");
    return state;
  }
  const auto refuse = [&](std::string reason) {
    dlclose(library);
    state.reason = std::move(reason);
    return state;
  };
  auto* entry = reinterpret_cast<const PluginInfo* (*)()>(dlsym(library, kEntry));
  if (entry == nullptr) return refuse("the plug-in " + file + " is not one: it does not export " + kEntry);
  const PluginInfo* info = entry();
  if (info == nullptr || info->abi_tag == nullptr) return refuse("the plug-in " + file + " says nothing about itself");
  if (abi_tag() != info->abi_tag) {
    return refuse("the plug-in " + file + " was built for another libtorch: its ABI tag is " + info->abi_tag +
                  ", this libtorch has " + std::string(abi_tag()) +
                  ". Install the libtorch-cuda of the same version and build.");
  }
  state.info = info;
  const char* problem = info->initialize();
  if (problem != nullptr) {
    state.reason = problem;
  } else if (c10::find_backend(c10::kCUDA) == nullptr) {
    state.reason = "the plug-in " + file + " did not register a backend";
  }
  return state;
}

PluginState load_plugin() {
  std::string looked_in;
  for (const std::string& folder : search_folders()) {
    std::error_code ignored;
    const fs::path file = fs::path(folder) / kLibrary;
    if (fs::exists(file, ignored)) return open_plugin(file.string());
    looked_in += (looked_in.empty() ? "" : ", ") + folder;
  }
  PluginState state;
  state.reason = std::string("the CUDA plug-in is not installed (no ") + kLibrary + " in " + looked_in +
                 "). Install libtorch-cuda, or name its folder in TORCH_BACKEND_PATH.";
  return state;
}

const PluginState& plugin() {
  static const PluginState state = [] {
    try {
      return load_plugin();
    } catch (const std::exception& error) {
      PluginState failed;
      failed.reason = std::string("the CUDA plug-in failed to start: ") + error.what();
      return failed;
    }
  }();
  return state;
}

}  // namespace

std::string_view abi_tag() { return TORCH_ABI_TAG; }
bool cuda_available() { return plugin().reason.empty(); }
std::string cuda_unavailable_reason() { return plugin().reason; }
const PluginInfo* cuda_plugin_info() { return plugin().info; }

namespace {
std::atomic<LinalgLibrary> linalg_library{LinalgLibrary::Default};
std::atomic<unsigned> product_switches_now{kProductReducedHalf | kProductReducedBFloat16 | kConvolutionTF32 | kCudnn};
std::atomic<int> cudnn_benchmark_limit_now{10};
}  // namespace

LinalgLibrary preferred_linalg_library() { return linalg_library; }

void prefer_linalg_library(LinalgLibrary library) {
  const PluginInfo* info = cuda_plugin_info();
  const bool is_there =
      library == LinalgLibrary::Default || (info != nullptr && (library == LinalgLibrary::Cusolver || info->has_magma));
  const char* name = library == LinalgLibrary::Magma ? "MAGMA" : "cuSOLVER";
  TORCH_CHECK(is_there, "Cannot set preferred backend to ", name, " if PyTorch has not been compiled with ", name, ".");
  linalg_library = library;
}

unsigned product_switches() { return product_switches_now; }
void set_product_switches(unsigned switches) { product_switches_now = switches; }
int cudnn_benchmark_limit() { return cudnn_benchmark_limit_now; }
void set_cudnn_benchmark_limit(int limit) { cudnn_benchmark_limit_now = limit; }

}  // namespace at
