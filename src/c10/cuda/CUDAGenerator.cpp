#include <c10/core/Backend.h>
#include <c10/cuda/CUDAGenerator.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <cstring>
#include <random>

namespace c10::cuda {

CUDAGenerator::CUDAGenerator(DeviceIndex device, uint64_t seed)
    : GeneratorImpl(Device(kCUDA, device)), state_{seed, 0} {}

void CUDAGenerator::set_current_seed(uint64_t seed) { state_ = {seed, 0}; }

uint64_t CUDAGenerator::seed() {
  std::random_device source;
  set_current_seed((uint64_t{source()} << 32 | source()) & 0x1FFFFFFFFFFFFF);  // 53 bits: Python's floats hold it
  return state_.seed;
}

std::vector<uint8_t> CUDAGenerator::state() const {
  std::vector<uint8_t> bytes(sizeof(PhiloxState));
  std::memcpy(bytes.data(), &state_, sizeof(PhiloxState));
  return bytes;
}

void CUDAGenerator::set_state(const std::vector<uint8_t>& state) {
  TORCH_CHECK(state.size() == sizeof(PhiloxState), "a CUDA generator's state has ", sizeof(PhiloxState), " bytes, got ",
              state.size());
  std::memcpy(&state_, state.data(), sizeof(PhiloxState));
}

intrusive_ptr<GeneratorImpl> CUDAGenerator::clone() const {
  auto copy = make_intrusive<CUDAGenerator>(device().index(), state_.seed);
  copy->state_ = state_;
  return copy;
}

PhiloxState CUDAGenerator::reserve(uint64_t numbers_per_thread) {
  const PhiloxState reserved = state_;
  state_.offset += (numbers_per_thread + 3) / 4 * 4;  // Philox makes four numbers at a time
  return reserved;
}

intrusive_ptr<GeneratorImpl> default_generator(DeviceIndex device) {
  static auto* generators = new std::array<intrusive_ptr<GeneratorImpl>, 64>();
  static std::mutex mutex;
  if (device < 0) device = current_device();
  const std::lock_guard<std::mutex> lock(mutex);
  auto& generator = (*generators)[static_cast<size_t>(device)];
  // torch.manual_seed may have been called before there was a device to seed.
  if (!generator) generator = make_intrusive<CUDAGenerator>(device, remembered_seed().value_or(CUDAGenerator::kDefaultSeed));
  return generator;
}

}  // namespace c10::cuda
