// libtorch_cuda_fft: Fourier transforms by cuFFT, whose plans are kept.

#include <aten/native/cuda/fft/Transform.h>

#include <cufft.h>

#include <map>
#include <tuple>

namespace {

const char* describe(cufftResult result) {
  switch (result) {
    case CUFFT_SUCCESS: return nullptr;
    case CUFFT_ALLOC_FAILED: return "no memory for a plan";
    case CUFFT_INVALID_SIZE: return "a size that cuFFT does not take";
    case CUFFT_INVALID_PLAN: return "an invalid plan";
    case CUFFT_EXEC_FAILED: return "the transform could not be run";
    default: return "an error of cuFFT";
  }
}

cufftType type_of(const TorchCudaTransform& transform) {
  switch (transform.kind) {
    case kTorchCudaRealToComplex: return transform.is_double ? CUFFT_D2Z : CUFFT_R2C;
    case kTorchCudaComplexToReal: return transform.is_double ? CUFFT_Z2D : CUFFT_C2R;
    default: return transform.is_double ? CUFFT_Z2Z : CUFFT_C2C;
  }
}

using Key = std::tuple<int, cufftType, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;
constexpr size_t kKeptPlans = 64;

// The plans of one thread, as a plan must not be used by two at once. They are not destroyed at its end, because the
// driver may be gone by then.
const char* plan_for(const TorchCudaTransform& transform, cufftHandle& plan) {
  thread_local auto* plans = new std::map<Key, cufftHandle>();
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return "cudaGetDevice failed";
  const cufftType type = type_of(transform);
  const Key key{device,
                type,
                transform.size,
                transform.batches,
                transform.in_step,
                transform.in_distance,
                transform.out_step,
                transform.out_distance};
  if (const auto found = plans->find(key); found != plans->end()) {
    plan = found->second;
    return nullptr;
  }
  if (plans->size() >= kKeptPlans) {
    for (const auto& [unused, old] : *plans) cufftDestroy(old);
    plans->clear();
  }
  if (const char* error = describe(cufftCreate(&plan))) return error;
  long long size = transform.size;
  long long embedding = transform.size;  // of one dimension: only that it is given counts
  size_t workspace = 0;
  const cufftResult made =
      cufftMakePlanMany64(plan, 1, &size, &embedding, transform.in_step, transform.in_distance, &embedding,
                          transform.out_step, transform.out_distance, type, transform.batches, &workspace);
  if (const char* error = describe(made)) {
    cufftDestroy(plan);
    return error;
  }
  plans->emplace(key, plan);
  return nullptr;
}

cufftResult run(const TorchCudaTransform& t, cufftHandle plan) {
  const int direction = t.forward ? CUFFT_FORWARD : CUFFT_INVERSE;
  switch (type_of(t)) {
    case CUFFT_C2C:
      return cufftExecC2C(plan, static_cast<cufftComplex*>(t.in), static_cast<cufftComplex*>(t.out), direction);
    case CUFFT_Z2Z:
      return cufftExecZ2Z(plan, static_cast<cufftDoubleComplex*>(t.in), static_cast<cufftDoubleComplex*>(t.out),
                          direction);
    case CUFFT_R2C: return cufftExecR2C(plan, static_cast<cufftReal*>(t.in), static_cast<cufftComplex*>(t.out));
    case CUFFT_D2Z:
      return cufftExecD2Z(plan, static_cast<cufftDoubleReal*>(t.in), static_cast<cufftDoubleComplex*>(t.out));
    case CUFFT_C2R: return cufftExecC2R(plan, static_cast<cufftComplex*>(t.in), static_cast<cufftReal*>(t.out));
    case CUFFT_Z2D:
      return cufftExecZ2D(plan, static_cast<cufftDoubleComplex*>(t.in), static_cast<cufftDoubleReal*>(t.out));
  }
  return CUFFT_INVALID_PLAN;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* torch_cuda_transform(
    const TorchCudaTransform* transform) {
  cufftHandle plan{};
  if (const char* error = plan_for(*transform, plan)) return error;
  if (const char* error = describe(cufftSetStream(plan, transform->stream))) return error;
  return describe(run(*transform, plan));
}
