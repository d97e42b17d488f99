#pragma once
// How what an engine throws becomes a status and a text.

#include <torch/lib/libtorch_distributed/torch_distributed.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace torch::distributed {

inline thread_local std::string last_error;

class TimedOut : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs `work`. `explain` makes a text for users of what an exception says.
template <typename Work, typename Explain>
int guarded(Work work, Explain explain) noexcept {
  try {
    work();
    return kDone;
  } catch (const std::exception& error) {
    last_error = explain(std::string(error.what()));
    // gloo has no type of its own for it.
    const bool timed_out =
        dynamic_cast<const TimedOut*>(&error) != nullptr || last_error.find("imed out") != std::string::npos;
    return timed_out ? kTimedOut : kFailed;
  }
}

template <typename Work>
int guarded(Work work) noexcept {
  return guarded(work, [](std::string text) { return text; });
}

}  // namespace torch::distributed
