#pragma once
// Whether operations are recorded for backward, and whether they ever can be, per thread.

#include <c10/macros/Export.h>

namespace c10 {

struct C10_API GradMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

// Whether what this thread makes are inference tensors: without a version counter, never recorded.
struct C10_API InferenceMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

// Sets the mode for a scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : previous_(GradMode::is_enabled()) { GradMode::set_enabled(enabled); }
  ~AutoGradMode() { GradMode::set_enabled(previous_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool previous_;
};

class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

}  // namespace c10
