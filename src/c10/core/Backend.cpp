#include <c10/core/Backend.h>

#include <atomic>

namespace c10 {

Backend::~Backend() = default;
GeneratorImpl::~GeneratorImpl() = default;

namespace {
std::atomic<Backend*> backends[kDeviceTypes];
std::atomic<void (*)(DeviceType)> backend_loader{nullptr};
}  // namespace

Backend* find_backend(DeviceType type) { return backends[static_cast<int>(type)].load(std::memory_order_acquire); }

Backend& get_backend(DeviceType type) {
  Backend* backend = find_backend(type);
  if (C10_LIKELY(backend != nullptr)) return *backend;
  if (auto* loader = backend_loader.load()) {
    loader(type);
    backend = find_backend(type);
  }
  TORCH_CHECK(backend != nullptr, "there is no ", device_type_name(type, true), " backend in this process");
  return *backend;
}

void register_backend(DeviceType type, Backend* backend) {
  backends[static_cast<int>(type)].store(backend, std::memory_order_release);
}

void set_backend_loader(void (*loader)(DeviceType)) { backend_loader.store(loader); }

}  // namespace c10
