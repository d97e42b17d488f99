#pragma once
// Which operators autocast gives which dtype.

#include <cstdint>
#include <string_view>

namespace torch::python {

enum class AutocastPolicy : uint8_t {
  Keep,             // computes in what it gets
  Lower,            // in the block's dtype
  Single,           // in float32
  SingleByDefault,  // in float32, unless the call says a dtype
  Widest,           // all in the widest dtype among them
  Banned,           // an error
};

struct AutocastPolicies {
  AutocastPolicy cpu = AutocastPolicy::Keep;
  AutocastPolicy cuda = AutocastPolicy::Keep;
};

// By the name that an operator has in Python.
AutocastPolicies autocast_policies(std::string_view name);

}  // namespace torch::python
