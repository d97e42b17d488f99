#pragma once
#include <vector>

double total(const std::vector<double>& weights);
