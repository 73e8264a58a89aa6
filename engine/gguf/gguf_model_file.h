// SPDX-License-Identifier: Apache-2.0
//
// A model as it lies on disk: one GGUF file, or the parts of a split one.
#ifndef HALYARD_ENGINE_GGUF_GGUF_MODEL_FILE_H_
#define HALYARD_ENGINE_GGUF_GGUF_MODEL_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/gguf/gguf.h"

namespace halyard::engine {

/// Files mapped read-only. Pages come in as they are read; a file that is cut afterwards raises
/// SIGBUS, so nobody may write to a model that is in use. Threads: any.
class GgufModelFile {
 public:
  /// `path`: a whole file, or the first part of a split one (NAME-00001-of-00003.gguf), whose other
  /// parts lie beside it.
  /// Errors   NOT_FOUND: no such file; INVALID_ARGUMENT: as GgufFile::Parse, with the path; parts that
  ///          do not belong together.
  static absl::StatusOr<std::unique_ptr<GgufModelFile>> Open(const std::string& path);
  ~GgufModelFile();
  GgufModelFile(const GgufModelFile&) = delete;
  GgufModelFile& operator=(const GgufModelFile&) = delete;

  /// Metadata: that of the first part.
  const GgufFile& head() const { return parts_.front().file; }
  size_t part_count() const { return parts_.size(); }
  const std::string& path() const { return parts_.front().path; }
  uint64_t bytes() const;

  /// Of all parts, in their order.
  std::vector<const GgufTensor*> tensors() const;
  /// nullptr if there is none.
  const GgufTensor* FindTensor(absl::string_view name) const;
  /// Of a tensor of this model.
  absl::Span<const uint8_t> BytesOf(const GgufTensor& tensor) const;
  bool is_big_endian() const { return head().is_big_endian(); }

  /// Tells the system that the bytes will not be read again soon: their pages may go.
  void Forget(const GgufTensor& tensor) const;

 private:
  struct Part {
    std::string path;
    absl::Span<const uint8_t> mapping;
    GgufFile file;
  };

  GgufModelFile() = default;
  absl::Status AddPart(const std::string& path);
  absl::Status CheckPart(int64_t number, int64_t count) const;

  std::vector<Part> parts_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_GGUF_GGUF_MODEL_FILE_H_
