// SPDX-License-Identifier: Apache-2.0
#include "engine/gguf/gguf.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace halyard::engine {
namespace {

bool IsSigned(GgufType type) {
  return type == GgufType::kInt8 || type == GgufType::kInt16 || type == GgufType::kInt32 ||
         type == GgufType::kInt64;
}

bool IsInteger(GgufType type) {
  return IsSigned(type) || type == GgufType::kUint8 || type == GgufType::kUint16 ||
         type == GgufType::kUint32 || type == GgufType::kUint64;
}

absl::Status OtherType(const GgufEntry& entry, absl::string_view wanted) {
  const std::string is = entry.type == GgufType::kArray
                             ? absl::StrCat("an array of ", GgufTypeName(entry.element))
                             : absl::StrCat("of type ", GgufTypeName(entry.type));
  return absl::InvalidArgumentError(
      absl::StrCat("GGUF key ", entry.key, " is ", is, " where ", wanted, " is needed"));
}

}  // namespace

int64_t GgufTensor::elements() const {
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) count *= shape[i];
  return count;
}

const GgufEntry* GgufFile::Find(absl::string_view key) const {
  const auto at = entry_of_.find(key);
  return at == entry_of_.end() ? nullptr : &entries_[at->second];
}

const GgufTensor* GgufFile::FindTensor(absl::string_view name) const {
  const auto at = tensor_of_.find(name);
  return at == tensor_of_.end() ? nullptr : &tensors_[at->second];
}

absl::Span<const uint8_t> GgufFile::BytesOf(const GgufTensor& tensor) const {
  return bytes_.subspan(static_cast<size_t>(tensor.offset), static_cast<size_t>(tensor.bytes));
}

absl::StatusOr<const GgufEntry*> GgufFile::Get(absl::string_view key) const {
  const GgufEntry* const entry = Find(key);
  if (entry != nullptr) return entry;
  return absl::NotFoundError(absl::StrCat("the GGUF file has no key ", key));
}

absl::StatusOr<const GgufEntry*> GgufFile::GetArray(absl::string_view key) const {
  HY_ASSIGN_OR_RETURN(const GgufEntry* const entry, Get(key));
  if (entry->type != GgufType::kArray) return OtherType(*entry, "an array");
  return entry;
}

uint64_t GgufFile::Load(uint64_t offset, uint32_t bytes) const {
  const uint8_t* const from = bytes_.data() + offset;
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    const uint32_t place = big_endian_ ? bytes - 1 - i : i;
    value |= uint64_t{from[i]} << (8 * place);
  }
  return value;
}

absl::StatusOr<int64_t> GgufFile::IntAt(const GgufEntry& entry, GgufType type,
                                        uint64_t offset) const {
  if (!IsInteger(type)) return OtherType(entry, "an integer");
  const uint32_t bits = 8 * GgufTypeBytes(type);
  const uint64_t raw = Load(offset, bits / 8);
  if (IsSigned(type)) {
    const uint64_t sign = uint64_t{1} << (bits - 1);
    return static_cast<int64_t>((raw ^ sign) - sign);
  }
  if (raw > INT64_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("GGUF key ", entry.key, " is ", raw, ", which is too large"));
  }
  return static_cast<int64_t>(raw);
}

absl::StatusOr<double> GgufFile::FloatAt(const GgufEntry& entry, GgufType type,
                                         uint64_t offset) const {
  if (type == GgufType::kFloat32)
    return std::bit_cast<float>(static_cast<uint32_t>(Load(offset, 4)));
  if (type == GgufType::kFloat64) return std::bit_cast<double>(Load(offset, 8));
  return OtherType(entry, "a float");
}

absl::string_view GgufFile::StringAt(uint64_t offset) const {
  return absl::string_view(reinterpret_cast<const char*>(bytes_.data() + offset + 8),
                           static_cast<size_t>(Load(offset, 8)));
}

absl::StatusOr<int64_t> GgufFile::Int(absl::string_view key) const {
  HY_ASSIGN_OR_RETURN(const GgufEntry* const entry, Get(key));
  return IntAt(*entry, entry->type, entry->offset);
}

absl::StatusOr<double> GgufFile::Float(absl::string_view key) const {
  HY_ASSIGN_OR_RETURN(const GgufEntry* const entry, Get(key));
  return FloatAt(*entry, entry->type, entry->offset);
}

absl::StatusOr<bool> GgufFile::Bool(absl::string_view key) const {
  HY_ASSIGN_OR_RETURN(const GgufEntry* const entry, Get(key));
  if (entry->type != GgufType::kBool) return OtherType(*entry, "a bool");
  return bytes_[static_cast<size_t>(entry->offset)] != 0;
}

absl::StatusOr<absl::string_view> GgufFile::String(absl::string_view key) const {
  HY_ASSIGN_OR_RETURN(const GgufEntry* const entry, Get(key));
  if (entry->type != GgufType::kString) return OtherType(*entry, "a string");
  return StringAt(entry->offset);
}

absl::StatusOr<std::vector<int64_t>> GgufFile::Ints(absl::string_view key) const {
  HY_ASSIGN_OR_RETURN(const GgufEntry* const entry, GetArray(key));
  if (!IsInteger(entry->element)) return OtherType(*entry, "an array of integers");
  std::vector<int64_t> values;
  values.reserve(static_cast<size_t>(entry->count));
  for (uint64_t i = 0; i < entry->count; ++i) {
    HY_ASSIGN_OR_RETURN(
        const int64_t value,
        IntAt(*entry, entry->element, entry->offset + i * GgufTypeBytes(entry->element)));
    values.push_back(value);
  }
  return values;
}

absl::StatusOr<std::vector<float>> GgufFile::Floats(absl::string_view key) const {
  HY_ASSIGN_OR_RETURN(const GgufEntry* const entry, GetArray(key));
  if (entry->element != GgufType::kFloat32) return OtherType(*entry, "an array of float32");
  std::vector<float> values;
  values.reserve(static_cast<size_t>(entry->count));
  for (uint64_t i = 0; i < entry->count; ++i)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(Load(entry->offset + 4 * i, 4))));
  return values;
}

absl::StatusOr<std::vector<bool>> GgufFile::Bools(absl::string_view key) const {
  HY_ASSIGN_OR_RETURN(const GgufEntry* const entry, GetArray(key));
  if (entry->element != GgufType::kBool) return OtherType(*entry, "an array of bool");
  std::vector<bool> values;
  for (uint64_t i = 0; i < entry->count; ++i)
    values.push_back(bytes_[static_cast<size_t>(entry->offset + i)] != 0);
  return values;
}

absl::StatusOr<std::vector<absl::string_view>> GgufFile::Strings(absl::string_view key) const {
  HY_ASSIGN_OR_RETURN(const GgufEntry* const entry, GetArray(key));
  if (entry->element != GgufType::kString) return OtherType(*entry, "an array of strings");
  std::vector<absl::string_view> values;
  values.reserve(static_cast<size_t>(entry->count));
  uint64_t at = entry->offset;
  for (uint64_t i = 0; i < entry->count; ++i) {
    values.push_back(StringAt(at));
    at += 8 + values.back().size();
  }
  return values;
}

absl::StatusOr<int64_t> GgufFile::IntOr(absl::string_view key, int64_t otherwise) const {
  return Find(key) == nullptr ? otherwise : Int(key);
}
absl::StatusOr<double> GgufFile::FloatOr(absl::string_view key, double otherwise) const {
  return Find(key) == nullptr ? otherwise : Float(key);
}
absl::StatusOr<bool> GgufFile::BoolOr(absl::string_view key, bool otherwise) const {
  return Find(key) == nullptr ? otherwise : Bool(key);
}
absl::StatusOr<absl::string_view> GgufFile::StringOr(absl::string_view key,
                                                     absl::string_view otherwise) const {
  return Find(key) == nullptr ? otherwise : String(key);
}

}  // namespace halyard::engine
