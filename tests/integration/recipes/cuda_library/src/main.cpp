#include <cstdio>

#include "axpy.hpp"

int main() {
  const float x[] = {2};
  float y[] = {1};
  axpy(3, x, y, 1);
  std::printf("%g\n", static_cast<double>(y[0]));
}
