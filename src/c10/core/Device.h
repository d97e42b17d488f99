#pragma once
// Where a tensor lives. The three backends are also the columns of every KernelTable.

#include <c10/util/Exception.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 2 };
constexpr int kDeviceTypes = 3;
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kMeta = DeviceType::Meta;

// "cpu", "cuda", "meta"; upper case as in messages about backends: "CPU", "CUDA", "Meta".
C10_API const char* device_type_name(DeviceType type, bool upper_case = false);

using DeviceIndex = int8_t;

struct C10_API Device {
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}  // NOLINT: implicit
  // "cpu", "cuda", "cuda:1", "meta". Throws Error with the accepted forms.
  explicit Device(std::string_view text);

  DeviceType type() const { return type_; }
  // -1: the current device of its type.
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  bool is_cpu() const { return type_ == kCPU; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_meta() const { return type_ == kMeta; }
  std::string str() const;

  friend bool operator==(const Device& left, const Device& right) {
    return left.type_ == right.type_ && left.index_ == right.index_;
  }
  friend bool operator!=(const Device& left, const Device& right) { return !(left == right); }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

C10_API std::ostream& operator<<(std::ostream& stream, const Device& device);
C10_API std::ostream& operator<<(std::ostream& stream, DeviceType type);

// How a tensor holds its elements: all of them at strides in a storage, or only those that are not zero, with their
// places (SparseParts in TensorImpl.h).
enum class Layout : int8_t { Strided = 0, Sparse, SparseCsr, SparseCsc };
constexpr Layout kStrided = Layout::Strided;
constexpr Layout kSparse = Layout::Sparse;
constexpr Layout kSparseCsr = Layout::SparseCsr;
constexpr Layout kSparseCsc = Layout::SparseCsc;
// "SparseCsr", as error messages have it.
C10_API const char* layout_name(Layout layout);
inline std::ostream& operator<<(std::ostream& stream, Layout layout) { return stream << layout_name(layout); }

}  // namespace c10
