// SPDX-License-Identifier: Apache-2.0
//
// Little-endian fields, written and read back with every length checked.
#ifndef HALYARD_CONFORMANCE_GOLDEN_GOLDEN_BYTES_H_
#define HALYARD_CONFORMANCE_GOLDEN_GOLDEN_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace halyard::conformance {

inline void PutInteger(uint64_t value, size_t bytes, std::string* out) {
  for (size_t i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

/// Takes fields off the front of bytes that may be anything. What is asked for beyond the end is 0 or
/// empty, and ok() is false from then on.
class ByteReader {
 public:
  explicit ByteReader(absl::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

  absl::string_view Take(uint64_t bytes) {
    if (!ok_ || bytes > rest_.size()) {
      ok_ = false;
      return {};
    }
    const absl::string_view taken = rest_.substr(0, static_cast<size_t>(bytes));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  uint64_t Integer(size_t bytes) {
    uint64_t value = 0;
    const absl::string_view taken = Take(bytes);
    for (size_t i = 0; i < taken.size(); ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(taken[i])) << (8 * i);
    }
    return value;
  }
  uint32_t Word() { return static_cast<uint32_t>(Integer(4)); }

  /// A number of elements, each of which takes at least so many of the bytes that are left: what is
  /// allocated for them is then no more than what was read.
  size_t Count(uint64_t least_bytes) {
    const uint64_t count = Integer(8);
    if (count > rest_.size() / least_bytes) ok_ = false;
    return ok_ ? static_cast<size_t>(count) : 0;
  }

 private:
  absl::string_view rest_;
  bool ok_ = true;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_GOLDEN_BYTES_H_
