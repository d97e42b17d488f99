// The engine of Fourier transforms: MKL's DFTI, which divides the lines among threads itself.

#include <aten/native/cpu/fft_engine.h>

#include <aten/Parallel.h>
#include <c10/util/Exception.h>

#include <mkl_dfti.h>

namespace at::native::cpu {

namespace {

void check(MKL_LONG status) {
  TORCH_CHECK(status == DFTI_NO_ERROR, "MKL FFT error: ", DftiErrorMessage(status));
}

template <typename T>
constexpr DFTI_CONFIG_VALUE kPrecision = sizeof(T) == sizeof(float) ? DFTI_SINGLE : DFTI_DOUBLE;

// A plan, and what frees it.
class Plan {
 public:
  Plan(DFTI_CONFIG_VALUE precision, DFTI_CONFIG_VALUE domain, int64_t n, int64_t count) {
    check(DftiCreateDescriptor(&descriptor_, precision, domain, 1, static_cast<MKL_LONG>(n)));
    set(DFTI_NUMBER_OF_TRANSFORMS, static_cast<MKL_LONG>(count));
  }
  ~Plan() { DftiFreeDescriptor(&descriptor_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  template <typename Value>
  void set(DFTI_CONFIG_PARAM parameter, Value value) {
    check(DftiSetValue(descriptor_, parameter, value));
  }
  DFTI_DESCRIPTOR_HANDLE commit() {
    get_num_threads();  // MKL takes as many as OpenMP has for this thread, which is told here
    check(DftiCommitDescriptor(descriptor_));
    return descriptor_;
  }

 private:
  DFTI_DESCRIPTOR_HANDLE descriptor_ = nullptr;
};

template <typename T>
void transform(c10::complex<T>* lines, int64_t n, int64_t count, int64_t stride, int64_t blocks, bool forward,
               T scale) {
  Plan plan(kPrecision<T>, DFTI_COMPLEX, n, count);
  const MKL_LONG distance = static_cast<MKL_LONG>(stride == 1 ? n : 1);
  MKL_LONG strides[] = {0, static_cast<MKL_LONG>(stride)};
  plan.set(DFTI_INPUT_STRIDES, strides);
  plan.set(DFTI_INPUT_DISTANCE, distance);
  plan.set(DFTI_OUTPUT_DISTANCE, distance);
  plan.set(forward ? DFTI_FORWARD_SCALE : DFTI_BACKWARD_SCALE, static_cast<double>(scale));
  const DFTI_DESCRIPTOR_HANDLE handle = plan.commit();
  for (int64_t i = 0; i < blocks; ++i, lines += n * count)
    check(forward ? DftiComputeForward(handle, lines) : DftiComputeBackward(handle, lines));
}

template <typename T>
void transform_real(const T* real, const c10::complex<T>* half, int64_t n, int64_t count, bool forward, T scale) {
  Plan plan(kPrecision<T>, DFTI_REAL, n, count);
  plan.set(DFTI_PLACEMENT, DFTI_NOT_INPLACE);
  plan.set(DFTI_CONJUGATE_EVEN_STORAGE, DFTI_COMPLEX_COMPLEX);
  const MKL_LONG half_distance = static_cast<MKL_LONG>(n / 2 + 1);
  plan.set(DFTI_INPUT_DISTANCE, forward ? static_cast<MKL_LONG>(n) : half_distance);
  plan.set(DFTI_OUTPUT_DISTANCE, forward ? half_distance : static_cast<MKL_LONG>(n));
  plan.set(forward ? DFTI_FORWARD_SCALE : DFTI_BACKWARD_SCALE, static_cast<double>(scale));
  const DFTI_DESCRIPTOR_HANDLE handle = plan.commit();
  // It reads what is not the result only: DFTI keeps the input of what is not in place.
  T* reals = const_cast<T*>(real);
  auto* halves = const_cast<c10::complex<T>*>(half);
  check(forward ? DftiComputeForward(handle, reals, halves) : DftiComputeBackward(handle, halves, reals));
}

}  // namespace

#define TORCH_FFT(T)                                                                                          \
  void fft_lines(c10::complex<T>* lines, int64_t n, int64_t count, int64_t stride, int64_t blocks,            \
                 bool forward, T scale) {                                                                     \
    transform(lines, n, count, stride, blocks, forward, scale);                                               \
  }                                                                                                           \
  void fft_real_lines(const T* input, c10::complex<T>* output, int64_t n, int64_t count, T scale) {           \
    transform_real(input, output, n, count, /*forward=*/true, scale);                                         \
  }                                                                                                           \
  void fft_to_real_lines(const c10::complex<T>* input, T* output, int64_t n, int64_t count, T scale) {        \
    transform_real(output, input, n, count, /*forward=*/false, scale);                                        \
  }
TORCH_FFT(float)
TORCH_FFT(double)
#undef TORCH_FFT

}  // namespace at::native::cpu
