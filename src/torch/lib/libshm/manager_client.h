#pragma once
// This process's connections to managers.

#include <torch/lib/libshm/protocol.h>

#include <string>

namespace libshm {

// The manager that new segments of this process are told to; started when there is none. Throws c10::Error.
std::string default_manager();
// Sends a request about `name` to the manager at `socket_path` and waits for the answer. Throws c10::Error when there
// is no such manager (any more) or it does not know the name.
void tell_manager(const std::string& socket_path, Request request, const std::string& name);

}  // namespace libshm
