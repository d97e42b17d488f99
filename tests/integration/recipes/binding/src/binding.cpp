#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <weights.hpp>

PYBIND11_MODULE(weights, module) { module.def("total", &total); }
