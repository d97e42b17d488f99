#include <c10/util/Warning.h>

#include <atomic>
#include <cstdio>

namespace c10 {

namespace {

std::atomic<WarningHandler> current_handler{nullptr};

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) { return current_handler.exchange(handler); }

void warn(const std::string& message) {
  if (const WarningHandler handler = current_handler.load()) return handler(message);
  std::fprintf(stderr, "Warning: %s\n", message.c_str());
}

}  // namespace c10
