// Plug-ins with one fault each; see CMakeLists.txt.

#include <aten/AbiTag.h>
#include <aten/Plugin.h>

#if defined(FAKE_MISSING_SYMBOL)
extern "C" const char* torch_symbol_that_no_library_has();
#endif

namespace {

const char* initialize() {
#if defined(FAKE_MISSING_SYMBOL)
  return torch_symbol_that_no_library_has();
#else
  return "no NVIDIA driver on this machine";
#endif
}

}  // namespace

#if !defined(FAKE_NO_ENTRY)
extern "C" __attribute__((visibility("default"))) const at::PluginInfo* torch_plugin_info() {
  static const at::PluginInfo info{
#if defined(FAKE_WRONG_TAG)
      "0.0.0-0123456789abcdef",
#else
      TORCH_ABI_TAG,
#endif
      "0.0.0", "13.0", "sm_80", /*has_magma=*/false, /*cudnn_version=*/nullptr, &initialize};
  return &info;
}
#endif
