#pragma once
// Random numbers on a CUDA device: Philox 4x32-10, a counter-based generator. The state is a seed and an offset; each
// kernel takes the offset it starts at and moves it past what it will use, so kernels need no shared state.

#include <c10/core/GeneratorImpl.h>
#include <c10/cuda/CUDAException.h>

#include <cstdint>

namespace c10::cuda {

// Where a kernel's numbers begin. In a graph that is settled by each replay: then `recorded` is device memory that
// holds the seed, and the offset which `offset` is added to.
struct PhiloxState {
  uint64_t seed;
  uint64_t offset;
  const uint64_t* recorded = nullptr;
};

class C10_CUDA_API CUDAGenerator final : public GeneratorImpl {
 public:
  explicit CUDAGenerator(DeviceIndex device, uint64_t seed = kDefaultSeed);
  static constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override;
  // 16 bytes: seed, then offset, little endian.
  std::vector<uint8_t> state() const override;
  void set_state(const std::vector<uint8_t>& state) override;
  intrusive_ptr<GeneratorImpl> clone() const override;

  // The state for a kernel of which each thread draws at most `numbers_per_thread`. The caller holds `mutex`.
  PhiloxState reserve(uint64_t numbers_per_thread);

  // Between these two, kernels on recorded streams read the state from `recorded`; returns how far they move it.
  void begin_recording(const uint64_t* recorded);
  uint64_t end_recording();

 private:
  uint64_t seed_;
  uint64_t offset_ = 0;
  const uint64_t* recorded_ = nullptr;
  uint64_t recorded_offset_ = 0;
};

C10_CUDA_API intrusive_ptr<GeneratorImpl> default_generator(DeviceIndex device);

}  // namespace c10::cuda
