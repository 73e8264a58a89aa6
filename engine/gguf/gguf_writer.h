// SPDX-License-Identifier: Apache-2.0
//
// Writes a GGUF file, version 3, little-endian on every host.
#ifndef HALYARD_ENGINE_GGUF_GGUF_WRITER_H_
#define HALYARD_ENGINE_GGUF_GGUF_WRITER_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/gguf/gguf.h"

namespace halyard::engine {

/// Metadata and tensors are told first; the bytes of tensors are asked for one tensor after the
/// other, so that a model larger than memory can be written. Threads: one.
class GgufWriter {
 public:
  /// The bytes of one tensor, as they are to stand in the file: as many as its type and shape take.
  /// They are used up before the next call.
  using BytesFn = std::function<absl::StatusOr<absl::Span<const uint8_t>>()>;

  void AddUint32(absl::string_view key, uint32_t value);
  void AddInt32(absl::string_view key, int32_t value);
  void AddUint64(absl::string_view key, uint64_t value);
  void AddFloat(absl::string_view key, float value);
  void AddBool(absl::string_view key, bool value);
  void AddString(absl::string_view key, absl::string_view value);
  void AddStrings(absl::string_view key, absl::Span<const std::string> values);
  void AddFloats(absl::string_view key, absl::Span<const float> values);
  void AddInts(absl::string_view key, absl::Span<const int32_t> values);
  void AddBools(absl::string_view key, const std::vector<bool>& values);
  /// As it stands in another file, whatever its type.
  /// Errors   INVALID_ARGUMENT: a big-endian file.
  absl::Status Copy(const GgufFile& from, const GgufEntry& entry);

  /// Shape as hy_tensor has it, outermost axis first.
  /// Errors   INVALID_ARGUMENT: a type that files do not have, or rows that are no whole blocks.
  absl::Status AddTensor(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                         BytesFn bytes);

  /// Writes to a temporary file beside `path` and renames that: `path` is whole or not there.
  /// Errors   those of BytesFn; INVALID_ARGUMENT: a tensor of another length; UNAVAILABLE: what the
  ///          system says. Nothing is left behind.
  absl::Status Write(const std::string& path,
                     const std::function<void(uint64_t done, uint64_t total)>& on_progress = {});

 private:
  struct Tensor {
    std::string name;
    uint32_t number = 0;
    std::vector<int64_t> shape;
    uint64_t bytes = 0;
    BytesFn fetch;
  };

  void AddKey(absl::string_view key, GgufType type);
  void AddArray(absl::string_view key, GgufType element, uint64_t count);
  std::string Head() const;
  absl::Status WriteTo(std::FILE* file,
                       const std::function<void(uint64_t done, uint64_t total)>& on_progress);

  std::string entries_;
  uint64_t entry_count_ = 0;
  std::vector<Tensor> tensors_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_GGUF_GGUF_WRITER_H_
