#pragma once
// Memory that processes share by name.
//
// A segment is a POSIX shared memory object. Its name must outlive no process that could still open it, and must not
// outlive all of them: torch_shm_manager, one process beside a family of sharing processes, counts who uses which name
// and unlinks it after the last, also when that one was killed. A sender "holds" a segment on the way, so that it may
// let go of its own use before the receiver has opened it.

#include <c10/core/Storage.h>
#include <c10/macros/Export.h>

#include <optional>
#include <string>

#if defined(SHM_BUILD)
#define SHM_API C10_EXPORT
#else
#define SHM_API C10_IMPORT
#endif

namespace libshm {

// How another process finds a segment. Plain text, so that it can be pickled.
struct Handle {
  std::string manager;  // the path of the manager's socket
  std::string name;     // of the shared memory object
  size_t bytes = 0;
};

// New memory, zeroed, mapped and counted for this process until the pointer is released. Throws c10::Error with the
// system's reason.
SHM_API c10::DataPtr allocate(size_t bytes);
// The handle of memory that allocate() or open() made; none for other memory.
SHM_API std::optional<Handle> find(const void* data);
// Keeps the segment alive on its way to the process that will open() it. One hold is for one open().
SHM_API void hold(const Handle& handle);
// Maps a segment that another process has sent. Throws c10::Error when it is gone.
SHM_API c10::DataPtr open(const Handle& handle);

}  // namespace libshm
