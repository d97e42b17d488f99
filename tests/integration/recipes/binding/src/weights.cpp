#include "weights.hpp"

#include <numeric>

double total(const std::vector<double>& weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }
