#pragma once
// Errors on the border: c10 errors become Python exceptions of the same name, and a Python exception that has to cross
// C++ frames (a hook inside the engine, say) travels as PythonError.

#include <torch/csrc/utils/object.h>

#include <exception>
#include <string>

namespace torch::python {

// The Python error indicator, taken out of the interpreter while C++ unwinds.
class PythonError : public std::exception {
 public:
  // Takes the pending Python exception. Needs the GIL.
  PythonError();
  PythonError(const PythonError& other);
  PythonError& operator=(const PythonError&) = delete;
  ~PythonError() override;
  const char* what() const noexcept override { return message_.c_str(); }
  // Makes it pending again. Needs the GIL.
  void restore() const;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
  std::string message_;
};

// torch.OutOfMemoryError and torch.linalg.LinAlgError, created by register_exceptions.
extern PyObject* out_of_memory_error;
extern PyObject* linalg_error;
void register_exceptions(PyObject* module);

// Turns the C++ exception in flight into the pending Python exception. Call inside a catch block, with the GIL.
void translate_exception() noexcept;

// Sets a Python exception and throws it through C++.
[[noreturn]] void raise(PyObject* exception_type, const std::string& message);

// Passes a new reference through; a null pointer means that Python has raised, and throws.
inline PyObject* checked(PyObject* object) {
  if (!object) throw PythonError();
  return object;
}
inline int checked(int status) {
  if (status < 0) throw PythonError();
  return status;
}

// Runs `body` where no C++ exception may pass: the border of every function that Python calls.
template <typename Body>
auto guarded(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    translate_exception();
  }
  if constexpr (std::is_pointer_v<decltype(body())>) {
    return nullptr;
  } else {
    return static_cast<decltype(body())>(-1);
  }
}

}  // namespace torch::python
