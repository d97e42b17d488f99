#include <c10/core/Backend.h>
#include <c10/cuda/CUDAGenerator.h>
#include <c10/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <cstring>
#include <random>

namespace c10::cuda {

CUDAGenerator::CUDAGenerator(DeviceIndex device, uint64_t seed) : GeneratorImpl(Device(kCUDA, device)), seed_(seed) {}

void CUDAGenerator::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t CUDAGenerator::seed() {
  std::random_device source;
  set_current_seed((uint64_t{source()} << 32 | source()) & 0x1FFFFFFFFFFFFF);  // 53 bits: Python's floats hold it
  return seed_;
}

std::vector<uint8_t> CUDAGenerator::state() const {
  const uint64_t parts[2] = {seed_, offset_};
  std::vector<uint8_t> bytes(sizeof(parts));
  std::memcpy(bytes.data(), parts, sizeof(parts));
  return bytes;
}

void CUDAGenerator::set_state(const std::vector<uint8_t>& state) {
  uint64_t parts[2];
  TORCH_CHECK(state.size() == sizeof(parts), "a CUDA generator's state has ", sizeof(parts), " bytes, got ",
              state.size());
  std::memcpy(parts, state.data(), sizeof(parts));
  seed_ = parts[0];
  offset_ = parts[1];
}

intrusive_ptr<GeneratorImpl> CUDAGenerator::clone() const {
  auto copy = make_intrusive<CUDAGenerator>(device().index(), seed_);
  copy->offset_ = offset_;
  return copy;
}

PhiloxState CUDAGenerator::reserve(uint64_t numbers_per_thread) {
  const bool is_recorded = is_capturing();
  TORCH_CHECK(!is_recorded || recorded_ != nullptr,
              "while a CUDA graph is recorded, random numbers come from the device's default generator only");
  uint64_t& offset = is_recorded ? recorded_offset_ : offset_;
  const PhiloxState reserved{is_recorded ? 0 : seed_, offset, is_recorded ? recorded_ : nullptr};
  offset += (numbers_per_thread + 3) / 4 * 4;  // Philox makes four numbers at a time
  return reserved;
}

void CUDAGenerator::begin_recording(const uint64_t* recorded) {
  const std::lock_guard<std::mutex> lock(mutex);
  recorded_ = recorded;
  recorded_offset_ = 0;
}

uint64_t CUDAGenerator::end_recording() {
  const std::lock_guard<std::mutex> lock(mutex);
  recorded_ = nullptr;
  return recorded_offset_;
}

intrusive_ptr<GeneratorImpl> default_generator(DeviceIndex device) {
  static auto* generators = new std::array<intrusive_ptr<GeneratorImpl>, 64>();
  static std::mutex mutex;
  if (device < 0) device = current_device();
  const std::lock_guard<std::mutex> lock(mutex);
  auto& generator = (*generators)[static_cast<size_t>(device)];
  // torch.manual_seed may have been called before there was a device to seed.
  if (!generator)
    generator = make_intrusive<CUDAGenerator>(device, remembered_seed().value_or(CUDAGenerator::kDefaultSeed));
  return generator;
}

}  // namespace c10::cuda
