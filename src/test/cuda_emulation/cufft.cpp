// Fourier transforms by their definition, in double, in the stream's order.

#include "queue.h"

#include <cufft.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace {

using Number = std::complex<double>;

struct Plan {
  cufftType type = CUFFT_C2C;
  long long size = 0, batches = 0;
  long long in_step = 0, in_distance = 0, out_step = 0, out_distance = 0;
  cudaStream_t stream = nullptr;
};

std::mutex mutex;
std::map<cufftHandle, Plan>& plans() {
  static auto* all = new std::map<cufftHandle, Plan>();
  return *all;
}

std::vector<Number> transform(const std::vector<Number>& in, int direction) {
  const size_t n = in.size();
  std::vector<Number> roots(n);
  for (size_t k = 0; k < n; ++k)
    roots[k] =
        std::polar(1.0, direction * 2 * 3.14159265358979323846 * static_cast<double>(k) / static_cast<double>(n));
  std::vector<Number> out(n);
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) out[k] += in[i] * roots[i * k % n];
  }
  return out;
}

// read(element) and write(element, number), for the numbers that there are on each side.
template <typename In, typename Out>
cufftResult run(cufftHandle handle, cufftType type, const In* in, Out* out, int direction) {
  Plan plan;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = plans().find(handle);
    if (found == plans().end() || found->second.type != type || found->second.size < 1) return CUFFT_INVALID_PLAN;
    plan = found->second;
  }
  const cudaError_t error = cuda_emulation::enqueue(plan.stream, [=] {
    const auto n = static_cast<size_t>(plan.size);
    const bool from_halves = type == CUFFT_C2R || type == CUFFT_Z2D;
    const bool to_halves = type == CUFFT_R2C || type == CUFFT_D2Z;
    // Real numbers are read and written in pairs.
    const auto is_aligned = [](const void* data, size_t bytes) {
      return reinterpret_cast<uintptr_t>(data) % bytes == 0;
    };
    if (to_halves ? !is_aligned(in, sizeof(Out)) : !is_aligned(out, sizeof(In))) return cudaErrorMisalignedAddress;
    for (long long batch = 0; batch < plan.batches; ++batch) {
      std::vector<Number> numbers(n);
      for (size_t i = 0; i < (from_halves ? n / 2 + 1 : n); ++i)
        numbers[i] = Number(in[batch * plan.in_distance + static_cast<long long>(i) * plan.in_step]);
      if (from_halves) {
        numbers[0] = numbers[0].real();
        if (n % 2 == 0) numbers[n / 2] = numbers[n / 2].real();
        for (size_t i = n / 2 + 1; i < n; ++i) numbers[i] = std::conj(numbers[n - i]);
      }
      const std::vector<Number> result = transform(numbers, direction);
      for (size_t i = 0; i < (to_halves ? n / 2 + 1 : n); ++i) {
        Out& place = out[batch * plan.out_distance + static_cast<long long>(i) * plan.out_step];
        if constexpr (std::is_arithmetic_v<Out>) place = static_cast<Out>(result[i].real());
        else place = Out(result[i]);
      }
    }
    return cudaSuccess;
  });
  return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

}  // namespace

cufftResult cufftCreate(cufftHandle* plan) {
  const std::lock_guard<std::mutex> lock(mutex);
  static int last = 0;
  *plan = ++last;
  plans()[*plan] = {};
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
  const std::lock_guard<std::mutex> lock(mutex);
  return plans().erase(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = plans().find(plan);
  if (found == plans().end()) return CUFFT_INVALID_PLAN;
  found->second.stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* size, long long* in_embedding, long long in_step,
                                long long in_distance, long long* out_embedding, long long out_step,
                                long long out_distance, cufftType type, long long batches, size_t* workspace) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = plans().find(plan);
  if (found == plans().end()) return CUFFT_INVALID_PLAN;
  if (rank != 1 || *size < 1 || batches < 1 || in_embedding == nullptr || out_embedding == nullptr)
    return CUFFT_INVALID_SIZE;
  found->second = {type, *size, batches, in_step, in_distance, out_step, out_distance, nullptr};
  *workspace = 0;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return run(plan, CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return run(plan, CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return run(plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return run(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return run(plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return run(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}
