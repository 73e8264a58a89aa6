// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "engine/gguf/gguf.h"

namespace halyard::engine {
namespace {

constexpr uint64_t kMostEntries = 1 << 16;
constexpr uint64_t kMostTensors = 1 << 16;
constexpr uint64_t kMostStringBytes = 16 << 20;
constexpr uint64_t kMostNameBytes = 1 << 16;
constexpr uint64_t kMostAlignment = 64 << 10;
// The least that an entry (length, one letter, type, one byte) and a tensor take.
constexpr uint64_t kEntryBytes = 8 + 1 + 4 + 1;
constexpr uint64_t kTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

// Names from a file, as they may be printed.
std::string Shown(absl::string_view name) {
  constexpr size_t kMost = 80;
  return absl::StrCat("'", absl::CEscape(name.substr(0, kMost)), name.size() > kMost ? "..." : "",
                      "'");
}

}  // namespace

/// Goes once through the head of a file.
class GgufParser {
 public:
  explicit GgufParser(absl::Span<const uint8_t> bytes) { file_.bytes_ = bytes; }

  absl::StatusOr<GgufFile> Run() {
    HY_RETURN_IF_ERROR(ReadHeader());
    HY_RETURN_IF_ERROR(ReadEntries());
    HY_RETURN_IF_ERROR(ReadAlignment());
    HY_RETURN_IF_ERROR(ReadTensors());
    HY_RETURN_IF_ERROR(PlaceTensors());
    HY_RETURN_IF_ERROR(CheckOverlap());
    return std::move(file_);
  }

 private:
  uint64_t left() const { return file_.bytes_.size() - at_; }

  template <typename... Words>
  absl::Status Bad(const Words&... words) const {
    return absl::InvalidArgumentError(
        absl::StrCat("not a valid GGUF file: at byte ", at_, ": ", words...));
  }

  absl::Status Take(uint32_t bytes, uint64_t* out, absl::string_view what) {
    if (bytes > left()) {
      return Bad("the file ends in ", what, ": ", bytes, " bytes are needed and ", left(),
                 " are there");
    }
    *out = file_.Load(at_, bytes);
    at_ += bytes;
    return absl::OkStatus();
  }

  absl::Status TakeString(uint64_t most, absl::string_view* out, absl::string_view what) {
    uint64_t length = 0;
    HY_RETURN_IF_ERROR(Take(8, &length, what));
    if (length > left() || length > most) {
      return Bad(what, " claims ", length, " bytes; ", left(), " are left, and ", most,
                 " are allowed");
    }
    *out = absl::string_view(reinterpret_cast<const char*>(file_.bytes_.data() + at_),
                             static_cast<size_t>(length));
    at_ += length;
    return absl::OkStatus();
  }

  absl::Status ReadHeader() {
    if (file_.bytes_.size() < 4 || std::memcmp(file_.bytes_.data(), "GGUF", 4) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("not a GGUF file: it begins with ",
                       Shown(absl::string_view(reinterpret_cast<const char*>(file_.bytes_.data()),
                                               std::min<size_t>(file_.bytes_.size(), 4))),
                       " instead of 'GGUF'"));
    }
    at_ = 4;
    uint64_t version = 0;
    HY_RETURN_IF_ERROR(Take(4, &version, "the version"));
    // Versions are small, so that those of the other byte order are large.
    if (version > 0xffff) {
      file_.big_endian_ = true;
      version = file_.Load(4, 4);
    }
    file_.version_ = static_cast<uint32_t>(version);
    if (version != 3 && (version != 2 || file_.big_endian_)) {
      return Bad("version ", version, file_.big_endian_ ? ", big-endian" : "",
                 "; versions 2 and 3 can be read. Convert the file anew");
    }
    HY_RETURN_IF_ERROR(Take(8, &tensor_count_, "the number of tensors"));
    HY_RETURN_IF_ERROR(Take(8, &entry_count_, "the number of keys"));
    if (entry_count_ > kMostEntries || entry_count_ > left() / kEntryBytes)
      return Bad("the file claims ", entry_count_, " keys in ", left(), " bytes");
    if (tensor_count_ > kMostTensors || tensor_count_ > left() / kTensorBytes)
      return Bad("the file claims ", tensor_count_, " tensors in ", left(), " bytes");
    return absl::OkStatus();
  }

  absl::Status TakeType(GgufType* out, absl::string_view what) {
    uint64_t type = 0;
    HY_RETURN_IF_ERROR(Take(4, &type, what));
    if (type >= kGgufTypeCount) return Bad(what, " is ", type, ", and there is no such type");
    *out = static_cast<GgufType>(type);
    return absl::OkStatus();
  }

  absl::Status SkipValues(GgufType type, uint64_t count, absl::string_view key) {
    if (type == GgufType::kString) {
      // Eight bytes of length at least, so that a wrong count ends here.
      if (count > left() / 8)
        return Bad(Shown(key), " claims ", count, " strings in ", left(), " bytes");
      absl::string_view ignored;
      for (uint64_t i = 0; i < count; ++i)
        HY_RETURN_IF_ERROR(TakeString(kMostStringBytes, &ignored, "a string of the metadata"));
      return absl::OkStatus();
    }
    const uint32_t size = GgufTypeBytes(type);
    if (count > left() / size)
      return Bad(Shown(key), " claims ", count, " values of ", size, " bytes; ", left(),
                 " are left");
    at_ += count * size;
    return absl::OkStatus();
  }

  absl::Status ReadEntry() {
    GgufEntry entry;
    HY_RETURN_IF_ERROR(TakeString(kMostNameBytes, &entry.key, "a key"));
    if (entry.key.empty()) return Bad("a key without a name");
    HY_RETURN_IF_ERROR(TakeType(&entry.type, absl::StrCat("the type of ", Shown(entry.key))));
    GgufType skipped = entry.type;
    if (entry.type == GgufType::kArray) {
      HY_RETURN_IF_ERROR(
          TakeType(&entry.element, absl::StrCat("the element type of ", Shown(entry.key))));
      if (entry.element == GgufType::kArray)
        return Bad(Shown(entry.key), " is an array of arrays, which is not supported");
      HY_RETURN_IF_ERROR(Take(8, &entry.count, "the length of an array"));
      skipped = entry.element;
    }
    entry.offset = at_;
    HY_RETURN_IF_ERROR(SkipValues(skipped, entry.count, entry.key));
    entry.bytes = at_ - entry.offset;
    if (!file_.entry_of_.emplace(entry.key, file_.entries_.size()).second)
      return Bad("the key ", Shown(entry.key), " is there twice");
    file_.entries_.push_back(entry);
    return absl::OkStatus();
  }

  absl::Status ReadEntries() {
    for (uint64_t i = 0; i < entry_count_; ++i) HY_RETURN_IF_ERROR(ReadEntry());
    return absl::OkStatus();
  }

  absl::Status ReadAlignment() {
    HY_ASSIGN_OR_RETURN(const int64_t alignment, file_.IntOr("general.alignment", 32));
    const auto value = static_cast<uint64_t>(alignment);
    if (alignment <= 0 || value > kMostAlignment || (value & (value - 1)) != 0)
      return Bad("general.alignment is ", alignment, "; it must be a power of two up to ",
                 kMostAlignment);
    file_.alignment_ = value;
    return absl::OkStatus();
  }

  absl::Status TakeShape(GgufTensor* out) {
    uint64_t rank = 0;
    HY_RETURN_IF_ERROR(Take(4, &rank, "a rank"));
    if (rank == 0 || rank > out->shape.size())
      return Bad("tensor ", Shown(out->name), " has rank ", rank, "; 1 to 4 are possible");
    out->rank = static_cast<uint32_t>(rank);
    // Room for all of its elements in 63 bits, so that no product of some of them wraps.
    uint64_t room = INT64_MAX;
    for (uint32_t i = 0; i < out->rank; ++i) {
      uint64_t size = 0;
      HY_RETURN_IF_ERROR(Take(8, &size, "a shape"));
      if (size == 0 || size > room)
        return Bad("tensor ", Shown(out->name), " has ", size, " elements along axis ", i,
                   size == 0 ? "" : ", more than can be");
      room /= size;
      out->shape[out->rank - 1 - i] = static_cast<int64_t>(size);
    }
    return absl::OkStatus();
  }

  absl::Status ReadTensor() {
    GgufTensor tensor;
    uint64_t type = 0;
    HY_RETURN_IF_ERROR(TakeString(kMostNameBytes, &tensor.name, "a tensor's name"));
    if (tensor.name.empty()) return Bad("a tensor without a name");
    HY_RETURN_IF_ERROR(TakeShape(&tensor));
    HY_RETURN_IF_ERROR(Take(4, &type, "a tensor's type"));
    HY_RETURN_IF_ERROR(Take(8, &tensor.offset, "a tensor's offset"));
    tensor.file_type = static_cast<uint32_t>(type);
    tensor.type = GgufTensorTypeOf(tensor.file_type).type;
    if (!file_.tensor_of_.emplace(tensor.name, file_.tensors_.size()).second)
      return Bad("the tensor ", Shown(tensor.name), " is there twice");
    file_.tensors_.push_back(tensor);
    return absl::OkStatus();
  }

  absl::Status ReadTensors() {
    for (uint64_t i = 0; i < tensor_count_; ++i) HY_RETURN_IF_ERROR(ReadTensor());
    const uint64_t begin = (at_ + file_.alignment_ - 1) / file_.alignment_ * file_.alignment_;
    // A file of metadata alone may end before the padding.
    if (begin > file_.bytes_.size() && tensor_count_ != 0)
      return Bad("the file ends before the first tensor, which begins at byte ", begin);
    file_.data_offset_ = std::min<uint64_t>(begin, file_.bytes_.size());
    return absl::OkStatus();
  }

  // Of a type of known size.
  absl::Status SizeOf(const GgufTensorType& type, GgufTensor* inout) const {
    const auto columns = static_cast<uint64_t>(inout->shape[inout->rank - 1]);
    if (columns % type.block != 0)
      return Bad("tensor ", Shown(inout->name), " has rows of ", columns, " elements; ", type.name,
                 " needs a multiple of ", type.block);
    const uint64_t blocks = static_cast<uint64_t>(inout->elements()) / type.block;
    if (blocks > file_.bytes_.size() / type.bytes)
      return Bad("tensor ", Shown(inout->name), " takes ", blocks, " blocks of ", type.bytes,
                 " bytes, and the file has ", file_.bytes_.size(), " bytes in all");
    inout->bytes = blocks * type.bytes;
    return absl::OkStatus();
  }

  absl::Status PlaceTensors() {
    const uint64_t room = file_.bytes_.size() - file_.data_offset_;
    for (GgufTensor& tensor : file_.tensors_) {
      const GgufTensorType type = GgufTensorTypeOf(tensor.file_type);
      if (type.block != 0) HY_RETURN_IF_ERROR(SizeOf(type, &tensor));
      if (tensor.offset % file_.alignment_ != 0)
        return Bad("tensor ", Shown(tensor.name), " has offset ", tensor.offset,
                   ", which is not a multiple of the alignment ", file_.alignment_);
      if (tensor.offset > room || tensor.bytes > room - tensor.offset)
        return Bad("the file is cut: tensor ", Shown(tensor.name), " of ", tensor.bytes,
                   " bytes at ", tensor.offset, " of the data ends beyond its ", room, " bytes");
      tensor.offset += file_.data_offset_;
    }
    return absl::OkStatus();
  }

  absl::Status CheckOverlap() {
    std::vector<GgufTensor*> order;
    order.reserve(file_.tensors_.size());
    for (GgufTensor& tensor : file_.tensors_) order.push_back(&tensor);
    std::sort(order.begin(), order.end(),
              [](const GgufTensor* a, const GgufTensor* b) { return a->offset < b->offset; });
    for (size_t i = 0; i < order.size(); ++i) {
      const uint64_t next =
          i + 1 < order.size() ? order[i + 1]->offset : uint64_t{file_.bytes_.size()};
      if (order[i]->bytes == 0) order[i]->bytes = next - order[i]->offset;
      if (order[i]->bytes <= next - order[i]->offset) continue;
      return Bad("tensors ", Shown(order[i]->name), " and ", Shown(order[i + 1]->name), " overlap");
    }
    return absl::OkStatus();
  }

  GgufFile file_;
  uint64_t at_ = 0;
  uint64_t entry_count_ = 0;
  uint64_t tensor_count_ = 0;
};

absl::StatusOr<GgufFile> GgufFile::Parse(absl::Span<const uint8_t> bytes) {
  return GgufParser(bytes).Run();
}

}  // namespace halyard::engine
