#include "hello.h"

#include <omp.h>

#include <numeric>
#include <vector>

extern "C" double cblas_ddot(int count, const double* x, int x_step, const double* y, int y_step);

double hello_dot(int count, int* threads) {
  *threads = 0;
#pragma omp parallel reduction(+ : threads[:1])
  *threads += 1;
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return cblas_ddot(count, values.data(), 1, values.data(), 1);
}
