#include <c10/util/intrusive_ptr.h>

namespace c10 {
intrusive_ptr_target::~intrusive_ptr_target() = default;
}
