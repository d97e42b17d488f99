// Not guarded: <cassert> may be included again. In a kernel a failed assertion ends the kernel, as on a device.
#undef assert
#define assert(condition) \
  (static_cast<bool>(condition) ? void() : ::cuda_emulation::fail_assertion(#condition, __FILE__, __LINE__))
