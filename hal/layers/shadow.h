// SPDX-License-Identifier: Apache-2.0
//
// Copies of a caller's out-memory with a guard behind: a port writes into the copy, and what it
// wrote where it must not is seen before the caller's memory changes.
#ifndef HALYARD_HAL_LAYERS_SHADOW_H_
#define HALYARD_HAL_LAYERS_SHADOW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "halyard/hal.h"

namespace halyard::hal {

/// A copy of `bytes` at `original`. Larger memory than kMostBytes is not copied: data() is it.
class Shadow {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;

  Shadow(void* original, uint64_t bytes);

  void* data() { return copied_ ? static_cast<void*>(words_.data()) : original_; }
  const unsigned char* bytes() const {
    return reinterpret_cast<const unsigned char*>(words_.data());
  }

  /// False if bytes behind the copy were written.
  bool IsGuardWhole() const;
  /// True if the copy differs from the caller's memory.
  bool IsChanged() const;
  /// Hands what was written to the caller.
  void CopyBack();

 private:
  void* const original_;
  const size_t size_bytes_;
  const bool copied_;
  std::vector<std::max_align_t> words_;
};

/// Puts a Shadow in the place of an out-array's data until Finish.
class ShadowArray {
 public:
  /// `record_bytes` is how long a record may be; what lies between it and the stride must stay.
  ShadowArray(hy_array* array, size_t record_bytes);

  /// Puts the caller's data back, filled. Returns what the port did against the array rule, or "".
  std::string Finish(hy_status status);

 private:
  std::string Fault(hy_status status) const;
  bool AreGapsWhole() const;

  hy_array* const array_;
  const hy_array given_;
  const size_t record_bytes_;
  Shadow shadow_;
};

/// Shadow of a struct that begins with its size; of nothing if that is NULL or says no sane size.
class ShadowStruct {
 public:
  explicit ShadowStruct(void* given);

  /// What to give to the port: the copy, or the caller's own pointer where no copy was made.
  void* data() { return size_bytes_ == 0 ? given_ : shadow_.data(); }

  /// Hands the struct to the caller. Returns what the port did against [HAL-ABI-05], or "".
  std::string Finish();

 private:
  void* const given_;
  const uint32_t size_bytes_;
  Shadow shadow_;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_LAYERS_SHADOW_H_
