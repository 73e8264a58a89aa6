// SPDX-License-Identifier: Apache-2.0
#include "hal/layers/shadow.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace halyard::hal {
namespace {

constexpr size_t kGuardBytes = 1024;  // more than any record: one too many must not do harm
constexpr unsigned char kGuard = 0xd7;

uint32_t SaneStructSize(const void* given) {
  constexpr uint32_t kMostBytes = 65536;
  uint32_t size = 0;
  if (given != nullptr) std::memcpy(&size, given, sizeof size);
  return size >= sizeof size && size <= kMostBytes ? size : 0;
}

uint64_t ArrayBytes(const hy_array& array) {
  return array.data == nullptr ? 0 : uint64_t{array.capacity} * array.stride;
}

}  // namespace

Shadow::Shadow(void* original, uint64_t bytes)
    : original_(original),
      size_bytes_(static_cast<size_t>(std::min(bytes, kMostBytes))),
      copied_(original != nullptr && bytes <= kMostBytes) {
  if (!copied_) return;
  words_.resize((size_bytes_ + kGuardBytes) / sizeof(std::max_align_t) + 1);
  std::memcpy(words_.data(), original_, size_bytes_);
  std::memset(reinterpret_cast<unsigned char*>(words_.data()) + size_bytes_, kGuard, kGuardBytes);
}

bool Shadow::IsGuardWhole() const {
  if (!copied_) return true;
  const unsigned char* guard = bytes() + size_bytes_;
  return std::all_of(guard, guard + kGuardBytes, [](unsigned char byte) { return byte == kGuard; });
}

bool Shadow::IsChanged() const {
  return copied_ && std::memcmp(words_.data(), original_, size_bytes_) != 0;
}

void Shadow::CopyBack() {
  if (copied_) std::memcpy(original_, words_.data(), size_bytes_);
}

ShadowArray::ShadowArray(hy_array* array, size_t record_bytes)
    : array_(array),
      given_(array == nullptr ? hy_array{} : *array),
      record_bytes_(record_bytes),
      shadow_(given_.data, ArrayBytes(given_)) {
  if (array_ != nullptr && given_.data != nullptr) array_->data = shadow_.data();
}

std::string ShadowArray::Finish(hy_status status) {
  if (array_ == nullptr) return "";
  std::string fault = Fault(status);
  shadow_.CopyBack();
  const uint32_t count = array_->count;
  *array_ = given_;
  array_->count = count;
  return fault;
}

std::string ShadowArray::Fault(hy_status status) const {
  if (array_->capacity != given_.capacity || array_->stride != given_.stride) {
    return "changed the capacity or the stride of the caller's array";
  }
  if (given_.data == nullptr) return "";
  if (!shadow_.IsGuardWhole()) return "wrote beyond the end of the caller's array";
  if (status == HY_OK && array_->count > given_.capacity) {
    return absl::StrCat("returned OK, though ", array_->count, " records do not fit into ",
                        given_.capacity);
  }
  return AreGapsWhole() ? "" : "wrote between the records of the caller's array";
}

bool ShadowArray::AreGapsWhole() const {
  if (given_.stride <= record_bytes_ || !shadow_.IsChanged()) return true;
  const unsigned char* before = static_cast<const unsigned char*>(given_.data);
  for (size_t i = 0; i < given_.capacity; ++i) {
    const size_t gap = i * given_.stride + record_bytes_;
    if (std::memcmp(shadow_.bytes() + gap, before + gap, given_.stride - record_bytes_) != 0) {
      return false;
    }
  }
  return true;
}

ShadowStruct::ShadowStruct(void* given)
    : given_(given),
      size_bytes_(SaneStructSize(given)),
      shadow_(size_bytes_ == 0 ? nullptr : given, size_bytes_) {}

std::string ShadowStruct::Finish() {
  if (size_bytes_ == 0) return "";
  std::string fault;
  if (!shadow_.IsGuardWhole()) {
    fault = absl::StrCat("wrote beyond the ", size_bytes_, " bytes of the caller's struct");
  } else if (SaneStructSize(shadow_.data()) != size_bytes_) {
    fault = "changed the struct_size of the caller's struct";
    std::memcpy(shadow_.data(), &size_bytes_, sizeof size_bytes_);
  }
  shadow_.CopyBack();
  return fault;
}

}  // namespace halyard::hal
