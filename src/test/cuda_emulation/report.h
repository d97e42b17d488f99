#pragma once
// What the emulation has found.

namespace cuda_emulation {

// Prints the fault on stderr and breaks `device`: every later call of the runtime fails with cudaErrorIllegalAddress.
void report_fault(int device, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace cuda_emulation
