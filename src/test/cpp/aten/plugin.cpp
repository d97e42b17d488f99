// The reasons that the loader gives. Run as `test_aten_plugin FAULT` with TORCH_BACKEND_PATH set: the loader decides
// once per process, so each fault is a process of its own.

#include <aten/Plugin.h>
#include <torch/torch.h>

#include <cstdio>
#include <string>

namespace {

int failures = 0;

void check(bool condition, const char* what) {
  if (condition) return;
  ++failures;
  std::fprintf(stderr, "not true: %s\n", what);
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

int main(int argc, char** argv) {
  const std::string fault = argc > 1 ? argv[1] : "";
  check(!at::cuda_available(), "CUDA is not available");
  const std::string reason = at::cuda_unavailable_reason();
  std::printf("%s: %s\n", fault.c_str(), reason.c_str());
  if (fault == "absent") {
    check(contains(reason, "not installed") && contains(reason, "/nonexistent"), "the reason names the folders");
    check(at::cuda_plugin_info() == nullptr, "no facts");
  } else if (fault == "wrong_tag") {
    check(contains(reason, "0.0.0-0123456789abcdef") && contains(reason, std::string(at::abi_tag()).c_str()),
          "the reason names both tags");
    check(at::cuda_plugin_info() == nullptr, "nothing of a foreign plug-in is believed");
  } else if (fault == "no_entry") {
    check(contains(reason, "torch_plugin_info"), "the reason names what is missing");
  } else if (fault == "missing_symbol") {
    check(contains(reason, "torch_symbol_that_no_library_has"), "the reason names the symbol");
  } else if (fault == "no_device") {
    check(reason == "no NVIDIA driver on this machine", "the plug-in's own reason");
    check(at::cuda_plugin_info() != nullptr && std::string(at::cuda_plugin_info()->cuda_version) == "13.0",
          "the facts are there without a device");
  } else {
    check(false, "the argument is a known fault");
  }
  // Asking for such a tensor gives the reason, not a crash.
  try {
    at::empty({2}, torch::device(torch::kCUDA));
    check(false, "a CUDA tensor is refused");
  } catch (const c10::Error& error) {
    check(contains(error.what(), reason.c_str()), "the error holds the reason");
  }
  return failures == 0 ? 0 : 1;
}
