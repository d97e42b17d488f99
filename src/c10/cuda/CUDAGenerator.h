#pragma once
// Random numbers on a CUDA device: Philox 4x32-10, a counter-based generator. The state is a seed and an offset; each
// kernel takes the offset it starts at and moves it past what it will use, so kernels need no shared state.

#include <c10/core/GeneratorImpl.h>
#include <c10/cuda/CUDAException.h>

#include <cstdint>

namespace c10::cuda {

struct PhiloxState {
  uint64_t seed;
  uint64_t offset;
};

class C10_CUDA_API CUDAGenerator final : public GeneratorImpl {
 public:
  explicit CUDAGenerator(DeviceIndex device, uint64_t seed = kDefaultSeed);
  static constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return state_.seed; }
  uint64_t seed() override;
  // 16 bytes: seed, then offset, little endian.
  std::vector<uint8_t> state() const override;
  void set_state(const std::vector<uint8_t>& state) override;
  intrusive_ptr<GeneratorImpl> clone() const override;

  // The state for a kernel of which each thread draws at most `numbers_per_thread`. The caller holds `mutex`.
  PhiloxState reserve(uint64_t numbers_per_thread);

 private:
  PhiloxState state_;
};

C10_CUDA_API intrusive_ptr<GeneratorImpl> default_generator(DeviceIndex device);

}  // namespace c10::cuda
