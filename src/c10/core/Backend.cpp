#include <c10/core/Backend.h>

#include <atomic>

namespace c10 {

Backend::~Backend() = default;
DeviceFacts Backend::device_facts(DeviceIndex) { return {}; }
DeviceMemory Backend::device_memory(DeviceIndex) { return {}; }
void Backend::reset_peak_memory(DeviceIndex) {}
void Backend::empty_cache() {}
std::pair<int64_t, int64_t> Backend::free_and_total_memory(DeviceIndex) { return {0, 0}; }

namespace {
[[noreturn]] void refuse_streams() { TORCH_CHECK_NOT_IMPLEMENTED(false, "this device has no streams"); }
}  // namespace

StreamHandle Backend::current_stream(DeviceIndex) { refuse_streams(); }
void Backend::set_current_stream(StreamHandle, DeviceIndex) { refuse_streams(); }
StreamHandle Backend::new_stream(DeviceIndex, int) { refuse_streams(); }
void Backend::synchronize_stream(StreamHandle) { refuse_streams(); }
bool Backend::query_stream(StreamHandle) { refuse_streams(); }
std::unique_ptr<DeviceEvent> Backend::new_event(bool) { refuse_streams(); }
void Backend::record_stream(void*, StreamHandle) { refuse_streams(); }
DeviceEvent::~DeviceEvent() = default;
GeneratorImpl::~GeneratorImpl() = default;

namespace {
std::atomic<Backend*> backends[kDeviceTypes];
std::atomic<void (*)(DeviceType)> backend_loader{nullptr};
std::atomic<uint64_t> seed_to_come{0};
std::atomic<bool> has_seed{false};
}  // namespace

void remember_seed(uint64_t seed) {
  seed_to_come.store(seed);
  has_seed.store(true);
}

std::optional<uint64_t> remembered_seed() {
  return has_seed.load() ? std::optional<uint64_t>(seed_to_come.load()) : std::nullopt;
}

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
