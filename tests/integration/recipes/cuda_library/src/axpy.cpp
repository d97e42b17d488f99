#include "axpy.hpp"

#ifdef WITH_CUDA
bool axpy_on_device(float a, const float* x, float* y, std::size_t count);
#endif

void axpy(float a, const float* x, float* y, std::size_t count) {
#ifdef WITH_CUDA
  if (axpy_on_device(a, x, y, count)) return;
#endif
  for (std::size_t i = 0; i < count; ++i) y[i] += a * x[i];
}
