#pragma once
// What a device's runtime says has gone wrong.

#include <c10/util/Exception.h>

namespace c10 {

// Python: torch.AcceleratorError, a RuntimeError; `code` is the runtime's number,
// and becomes its attribute `error_code`.
class C10_API AcceleratorError : public Error {
 public:
  AcceleratorError(std::string message, int code) : Error(std::move(message)), code_(code) {}
  ~AcceleratorError() override;
  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace c10
