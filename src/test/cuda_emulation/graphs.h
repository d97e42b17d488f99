#pragma once
// Graphs: work that is recorded instead of done. It is recorded in the order in which it is issued, one of those that
// the streams and events allow, and done again in this order.

#include "queue.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cuda_emulation {

struct Recording {
  uint64_t number = 0;
  std::vector<Work> works;
  bool is_broken = false;
  bool has_ended = false;
};

// What a stream is recorded into; null: its work is done.
std::shared_ptr<Recording> recording_of(cudaStream_t stream);
bool is_recorded(cudaStream_t stream);
// Lets a stream take part, or (null) ends it for all that do.
void join_recording(cudaStream_t stream, const std::shared_ptr<Recording>& recording);

// What calls get that wait for work or ask the driver for memory while anybody records,
// unless the thread has asked for less care.
cudaError_t refuse_while_recorded();

}  // namespace cuda_emulation
