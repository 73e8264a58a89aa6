// SPDX-License-Identifier: Apache-2.0
//
// Memory for scratch and copies: 64-byte aligned, kept between uses, only ever larger.
#ifndef HALYARD_REGISTRY_ALIGNED_BLOCK_H_
#define HALYARD_REGISTRY_ALIGNED_BLOCK_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace halyard::registry {

class AlignedBlock {
 public:
  static constexpr uint64_t kAlignment = 64;

  /// At least `bytes` from now on, touched. What it held is lost if it grows.
  /// Errors   RESOURCE_EXHAUSTED; it is then as it was.
  absl::Status Reserve(uint64_t bytes) {
    if (bytes <= bytes_) return absl::OkStatus();
    void* data = bytes > std::numeric_limits<size_t>::max() / 2
                     ? nullptr
                     : ::operator new(static_cast<size_t>(bytes), std::align_val_t(kAlignment),
                                      std::nothrow);
    if (data == nullptr)
      return absl::ResourceExhaustedError(absl::StrCat("no memory for a block of ", bytes));
    std::memset(data, 0, static_cast<size_t>(bytes));
    data_.reset(static_cast<unsigned char*>(data));
    bytes_ = bytes;
    return absl::OkStatus();
  }

  unsigned char* data() const { return data_.get(); }
  uint64_t bytes() const { return bytes_; }

 private:
  struct Delete {
    void operator()(unsigned char* data) const {
      ::operator delete(data, std::align_val_t(kAlignment));
    }
  };
  std::unique_ptr<unsigned char, Delete> data_;
  uint64_t bytes_ = 0;
};

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_ALIGNED_BLOCK_H_
