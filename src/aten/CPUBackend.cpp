// The two backends that are always there.

#include <aten/CPUGenerator.h>
#include <aten/Plugin.h>
#include <c10/core/Backend.h>

namespace at {

namespace {

class CPUBackend final : public c10::Backend {
 public:
  c10::Allocator* allocator() override { return c10::cpu_allocator(); }
  int device_count() override { return 1; }
  c10::DeviceIndex current_device() override { return 0; }
  void set_device(c10::DeviceIndex) override {}
  void synchronize(c10::DeviceIndex) override {}
  c10::intrusive_ptr<c10::GeneratorImpl> default_generator(c10::DeviceIndex) override {
    return default_cpu_generator();
  }
  c10::intrusive_ptr<c10::GeneratorImpl> new_generator(c10::DeviceIndex) override {
    return c10::make_intrusive<CPUGenerator>();
  }
};

// Hands out sizes without memory.
class MetaAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t) override { return c10::DataPtr(nullptr, nullptr, nullptr, c10::kMeta); }
};

class MetaBackend final : public c10::Backend {
 public:
  c10::Allocator* allocator() override { return &allocator_; }
  int device_count() override { return 1; }
  c10::DeviceIndex current_device() override { return 0; }
  void set_device(c10::DeviceIndex) override {}
  void synchronize(c10::DeviceIndex) override {}
  c10::intrusive_ptr<c10::GeneratorImpl> default_generator(c10::DeviceIndex) override { return new_generator(0); }
  c10::intrusive_ptr<c10::GeneratorImpl> new_generator(c10::DeviceIndex) override {
    throw c10::NotImplementedError("meta tensors have no values, so there is no generator for them");
  }

 private:
  MetaAllocator allocator_;
};

CPUBackend cpu_backend;
MetaBackend meta_backend;

void load_backend(c10::DeviceType type) {
  if (type != c10::kCUDA) return;
  if (!cuda_available()) throw c10::Error("CUDA cannot be used: " + cuda_unavailable_reason());
}

const bool registered = [] {
  c10::register_backend(c10::kCPU, &cpu_backend);
  c10::register_backend(c10::kMeta, &meta_backend);
  c10::set_backend_loader(&load_backend);
  return true;
}();

}  // namespace
}  // namespace at
