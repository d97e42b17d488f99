#pragma once
#include <cstddef>

/// Adds `a * x[i]` to each of the `count` values of `y`: on a GPU where there is one and the library was built for it.
void axpy(float a, const float* x, float* y, std::size_t count);
