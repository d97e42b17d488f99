#include <c10/core/Backend.h>

#include <atomic>

namespace c10 {

Backend::~Backend() = default;
DeviceFacts Backend::device_facts(DeviceIndex) { return {}; }
MemoryNumbers Backend::memory_numbers(DeviceIndex) { return {}; }
void Backend::reset_memory_numbers(DeviceIndex, bool) {}
std::vector<MemorySegment> Backend::memory_segments() { return {}; }
void Backend::limit_memory(DeviceIndex, double) {}
double Backend::memory_limit(DeviceIndex) { return 1; }
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

Allocator* Backend::pinned_allocator() { return cpu_allocator(); }
bool Backend::is_pinned(const void*) { return false; }

namespace {
[[noreturn]] void refuse_graphs() {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "this device has neither graphs nor pools of memory");
}
}  // namespace

MemoryPool Backend::new_memory_pool() { refuse_graphs(); }
void Backend::enter_memory_pool(DeviceIndex, MemoryPool) { refuse_graphs(); }
void Backend::leave_memory_pool(DeviceIndex) { refuse_graphs(); }
void Backend::release_memory_pool(MemoryPool) { refuse_graphs(); }
std::unique_ptr<DeviceGraph> Backend::new_graph() { refuse_graphs(); }
bool Backend::is_capturing() { return false; }
bool Backend::can_access_peer(DeviceIndex, DeviceIndex) { return false; }

DeviceEvent::~DeviceEvent() = default;
DeviceGraph::~DeviceGraph() = default;
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

Backend* find_backend(DeviceType type) {
  if (static_cast<int>(type) >= kDeviceTypes) return nullptr;  // a name of PyTorch's, Device.cpp
  return backends[static_cast<int>(type)].load(std::memory_order_acquire);
}

Backend& get_backend(DeviceType type) {
  Backend* backend = find_backend(type);
  if (C10_LIKELY(backend != nullptr)) return *backend;
  if (auto* loader = backend_loader.load()) {
    loader(type);
    backend = find_backend(type);
  }
  TORCH_CHECK(backend != nullptr, "there is no ", device_type_name(type, true),
              " backend in this process: tensors live on cpu, cuda or meta");
  return *backend;
}

void register_backend(DeviceType type, Backend* backend) {
  backends[static_cast<int>(type)].store(backend, std::memory_order_release);
}

void set_backend_loader(void (*loader)(DeviceType)) { backend_loader.store(loader); }

}  // namespace c10
