// SPDX-License-Identifier: Apache-2.0
#include "engine/gguf/gguf_writer.h"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace halyard::engine {
namespace {

constexpr uint64_t kAlignment = 32;

uint64_t Padded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void Put(uint64_t value, uint32_t bytes, std::string* out) {
  for (uint32_t i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void PutString(absl::string_view text, std::string* out) {
  Put(text.size(), 8, out);
  out->append(text.data(), text.size());
}

absl::Status SystemSays(absl::string_view what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(errno)));
}

}  // namespace

void GgufWriter::AddKey(absl::string_view key, GgufType type) {
  PutString(key, &entries_);
  Put(static_cast<uint32_t>(type), 4, &entries_);
  ++entry_count_;
}

void GgufWriter::AddArray(absl::string_view key, GgufType element, uint64_t count) {
  AddKey(key, GgufType::kArray);
  Put(static_cast<uint32_t>(element), 4, &entries_);
  Put(count, 8, &entries_);
}

void GgufWriter::AddUint32(absl::string_view key, uint32_t value) {
  AddKey(key, GgufType::kUint32);
  Put(value, 4, &entries_);
}

void GgufWriter::AddInt32(absl::string_view key, int32_t value) {
  AddKey(key, GgufType::kInt32);
  Put(static_cast<uint32_t>(value), 4, &entries_);
}

void GgufWriter::AddUint64(absl::string_view key, uint64_t value) {
  AddKey(key, GgufType::kUint64);
  Put(value, 8, &entries_);
}

void GgufWriter::AddFloat(absl::string_view key, float value) {
  AddKey(key, GgufType::kFloat32);
  Put(std::bit_cast<uint32_t>(value), 4, &entries_);
}

void GgufWriter::AddBool(absl::string_view key, bool value) {
  AddKey(key, GgufType::kBool);
  Put(value ? 1 : 0, 1, &entries_);
}

void GgufWriter::AddString(absl::string_view key, absl::string_view value) {
  AddKey(key, GgufType::kString);
  PutString(value, &entries_);
}

void GgufWriter::AddStrings(absl::string_view key, absl::Span<const std::string> values) {
  AddArray(key, GgufType::kString, values.size());
  for (const std::string& value : values) PutString(value, &entries_);
}

void GgufWriter::AddFloats(absl::string_view key, absl::Span<const float> values) {
  AddArray(key, GgufType::kFloat32, values.size());
  for (const float value : values) Put(std::bit_cast<uint32_t>(value), 4, &entries_);
}

void GgufWriter::AddInts(absl::string_view key, absl::Span<const int32_t> values) {
  AddArray(key, GgufType::kInt32, values.size());
  for (const int32_t value : values) Put(static_cast<uint32_t>(value), 4, &entries_);
}

void GgufWriter::AddBools(absl::string_view key, const std::vector<bool>& values) {
  AddArray(key, GgufType::kBool, values.size());
  for (const bool value : values) Put(value ? 1 : 0, 1, &entries_);
}

absl::Status GgufWriter::Copy(const GgufFile& from, const GgufEntry& entry) {
  if (from.is_big_endian())
    return absl::InvalidArgumentError("metadata of a big-endian file cannot be copied");
  AddKey(entry.key, entry.type);
  if (entry.type == GgufType::kArray) {
    Put(static_cast<uint32_t>(entry.element), 4, &entries_);
    Put(entry.count, 8, &entries_);
  }
  const absl::Span<const uint8_t> value =
      from.bytes().subspan(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.bytes));
  entries_.append(value.begin(), value.end());
  return absl::OkStatus();
}

absl::Status GgufWriter::AddTensor(absl::string_view name, uint32_t type,
                                   absl::Span<const int64_t> shape, BytesFn bytes) {
  Tensor tensor;
  tensor.name = std::string(name);
  tensor.number = GgufNumberOf(type);
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.fetch = std::move(bytes);
  if (tensor.number == UINT32_MAX || shape.empty() || shape.size() > 4) {
    return absl::InvalidArgumentError(absl::StrCat("tensor ", name, " of type ", hy_type_name(type),
                                                   " and rank ", shape.size(),
                                                   ": GGUF files do not have such"));
  }
  const auto block = static_cast<int64_t>(hy_type_facts(type)->block);
  if (shape.back() % block != 0) {
    return absl::InvalidArgumentError(absl::StrCat("tensor ", name, " has rows of ", shape.back(),
                                                   " elements; ", hy_type_name(type),
                                                   " needs a multiple of ", block));
  }
  tensor.bytes = hy_type_row_bytes(type, shape.back());
  for (const int64_t size : shape.first(shape.size() - 1))
    tensor.bytes *= static_cast<uint64_t>(size);
  tensors_.push_back(std::move(tensor));
  return absl::OkStatus();
}

std::string GgufWriter::Head() const {
  std::string head = "GGUF";
  Put(3, 4, &head);
  Put(tensors_.size(), 8, &head);
  Put(entry_count_, 8, &head);
  head += entries_;
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    PutString(tensor.name, &head);
    Put(tensor.shape.size(), 4, &head);
    for (size_t i = tensor.shape.size(); i > 0; --i)
      Put(static_cast<uint64_t>(tensor.shape[i - 1]), 8, &head);
    Put(tensor.number, 4, &head);
    Put(offset, 8, &head);
    offset += Padded(tensor.bytes);
  }
  head.resize(static_cast<size_t>(Padded(head.size())), '\0');
  return head;
}

absl::Status GgufWriter::WriteTo(
    std::FILE* file, const std::function<void(uint64_t done, uint64_t total)>& on_progress) {
  const std::string head = Head();
  uint64_t total = head.size();
  for (const Tensor& tensor : tensors_) total += Padded(tensor.bytes);
  uint64_t done = head.size();
  std::fwrite(head.data(), 1, head.size(), file);
  for (const Tensor& tensor : tensors_) {
    HY_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> bytes, tensor.fetch());
    if (bytes.size() != tensor.bytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", tensor.name, " came with ", bytes.size(), " bytes instead of ", tensor.bytes));
    }
    static constexpr char kZeros[kAlignment] = {};
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fwrite(kZeros, 1, static_cast<size_t>(Padded(tensor.bytes) - tensor.bytes), file);
    if (std::ferror(file) != 0) return absl::UnavailableError(std::strerror(errno));
    done += Padded(tensor.bytes);
    if (on_progress) on_progress(done, total);
  }
  return absl::OkStatus();
}

absl::Status GgufWriter::Write(
    const std::string& path,
    const std::function<void(uint64_t done, uint64_t total)>& on_progress) {
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".tmp");
  std::FILE* const file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return SystemSays("write", temporary);
  absl::Status status = WriteTo(file, on_progress);
  const bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || (failed && status.ok())) {
    if (status.ok()) status = SystemSays("write", temporary);
  }
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0)
    status = SystemSays("rename the written file to", path);
  if (!status.ok()) std::remove(temporary.c_str());
  return status;
}

}  // namespace halyard::engine
