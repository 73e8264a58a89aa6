// SPDX-License-Identifier: Apache-2.0
//
// What a GGUF file says: metadata and a table of tensors. The bytes may be anything: they come from
// the network. Versions 2 and 3; version 3 in either byte order.
#ifndef HALYARD_ENGINE_GGUF_GGUF_H_
#define HALYARD_ENGINE_GGUF_GGUF_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/gguf/gguf_types.h"
#include "halyard/tensor.h"

namespace halyard::engine {

/// A tensor of a file. Elements of weight formats are little-endian, unless the file is big-endian;
/// floats and integers are in the byte order of the file.
struct GgufTensor {
  absl::string_view name;
  uint32_t file_type = 0;        ///< the file's number
  uint32_t type = HY_TYPE_NONE;  ///< HY_TYPE_*; NONE: a format that there is no op for
  uint32_t rank = 0;             ///< 1..4
  std::array<int64_t, 4> shape =
      {};               ///< outermost axis first, as hy_tensor has it; files say the reverse
  uint64_t offset = 0;  ///< bytes, from the start of the file
  uint64_t bytes = 0;   ///< of a type of unknown size: up to the next tensor

  int64_t elements() const;
};

/// Where a metadata value lies.
struct GgufEntry {
  absl::string_view key;
  GgufType type = GgufType::kUint8;
  GgufType element = GgufType::kUint8;  ///< of arrays
  uint64_t count = 1;                   ///< of arrays
  uint64_t offset = 0;                  ///< of the value, or of the first element, in the file
  uint64_t bytes = 0;                   ///< of the value or of all elements
};

/// A parsed file. Keeps views of the bytes, and copies no value. Threads: any.
class GgufFile {
 public:
  /// `bytes` is the whole file and outlives the result. Takes memory for tables in proportion to the
  /// bytes that are there, whatever the file claims.
  /// Errors   INVALID_ARGUMENT: what is wrong, at which byte and in which key or tensor.
  static absl::StatusOr<GgufFile> Parse(absl::Span<const uint8_t> bytes);

  uint32_t version() const { return version_; }
  bool is_big_endian() const { return big_endian_; }
  uint64_t alignment() const { return alignment_; }
  uint64_t data_offset() const { return data_offset_; }
  const std::vector<GgufEntry>& entries() const { return entries_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  absl::Span<const uint8_t> bytes() const { return bytes_; }

  /// nullptr if there is none.
  const GgufEntry* Find(absl::string_view key) const;
  const GgufTensor* FindTensor(absl::string_view name) const;
  absl::Span<const uint8_t> BytesOf(const GgufTensor& tensor) const;

  /// Values by key. Integers of all widths are taken where they fit, floats of both.
  /// Errors   NOT_FOUND: no such key; INVALID_ARGUMENT: it has another type or does not fit.
  absl::StatusOr<int64_t> Int(absl::string_view key) const;
  absl::StatusOr<double> Float(absl::string_view key) const;
  absl::StatusOr<bool> Bool(absl::string_view key) const;
  absl::StatusOr<absl::string_view> String(absl::string_view key) const;
  absl::StatusOr<std::vector<int64_t>> Ints(absl::string_view key) const;
  absl::StatusOr<std::vector<float>> Floats(absl::string_view key) const;
  absl::StatusOr<std::vector<bool>> Bools(absl::string_view key) const;
  absl::StatusOr<std::vector<absl::string_view>> Strings(absl::string_view key) const;

  /// The same, with a value for where there is no such key. Another type is still an error.
  absl::StatusOr<int64_t> IntOr(absl::string_view key, int64_t otherwise) const;
  absl::StatusOr<double> FloatOr(absl::string_view key, double otherwise) const;
  absl::StatusOr<bool> BoolOr(absl::string_view key, bool otherwise) const;
  absl::StatusOr<absl::string_view> StringOr(absl::string_view key,
                                             absl::string_view otherwise) const;

 private:
  friend class GgufParser;
  GgufFile() = default;

  absl::StatusOr<const GgufEntry*> Get(absl::string_view key) const;
  absl::StatusOr<const GgufEntry*> GetArray(absl::string_view key) const;
  uint64_t Load(uint64_t offset, uint32_t bytes) const;
  absl::StatusOr<int64_t> IntAt(const GgufEntry& entry, GgufType type, uint64_t offset) const;
  absl::StatusOr<double> FloatAt(const GgufEntry& entry, GgufType type, uint64_t offset) const;
  absl::string_view StringAt(uint64_t offset) const;

  absl::Span<const uint8_t> bytes_;
  uint32_t version_ = 0;
  bool big_endian_ = false;
  uint64_t alignment_ = 32;
  uint64_t data_offset_ = 0;
  std::vector<GgufEntry> entries_;
  std::vector<GgufTensor> tensors_;
  absl::flat_hash_map<absl::string_view, size_t> entry_of_;
  absl::flat_hash_map<absl::string_view, size_t> tensor_of_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_GGUF_GGUF_H_
