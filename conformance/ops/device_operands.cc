// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/device_operands.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ops/data/layout.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kGapBytes = 128;
constexpr uint8_t kCanary = 0xc5;

uint64_t AddressOf(const unsigned char* at) { return reinterpret_cast<uintptr_t>(at); }

}  // namespace

std::vector<DeviceOperands::Range> DeviceOperands::RangesOf(const registry::Op& op,
                                                            const void* args) {
  std::vector<Range> all;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const hy_tensor& tensor = op.tensor(i, args);
    if (!hy_tensor_present(&tensor)) continue;
    const uint64_t bytes = ops::SpanBytes(tensor);
    if (bytes == 0) continue;
    const hy_operand& operand = op.operands()[i];
    all.push_back({static_cast<unsigned char*>(tensor.data), bytes, 0,
                   (operand.flags & HY_OPERAND_WRITE) != 0, operand.name});
  }
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) { return a.host < b.host; });
  std::vector<Range> merged;
  for (Range& one : all) {
    if (merged.empty() || merged.back().host + merged.back().bytes <= one.host) {
      merged.push_back(std::move(one));
      continue;
    }
    Range& last = merged.back();
    last.bytes =
        std::max<uint64_t>(last.bytes, static_cast<uint64_t>(one.host - last.host) + one.bytes);
    last.written = last.written || one.written;
    absl::StrAppend(&last.names, " and ", one.names);
  }
  return merged;
}

// As far from an alignment boundary as on the host.
uint64_t DeviceOperands::PlaceRanges() {
  uint64_t end = 0;
  for (Range& range : ranges_) {
    const uint64_t boundary = (end + kGapBytes + kAlignment - 1) / kAlignment * kAlignment;
    range.offset = boundary + AddressOf(range.host) % kAlignment;
    end = range.offset + range.bytes;
  }
  return end + kGapBytes;
}

void DeviceOperands::FindPlaces(const registry::Op& op, const void* args) {
  places_.assign(op.operands().size(), {});
  for (size_t i = 0; i < places_.size(); ++i) {
    const hy_tensor& tensor = op.tensor(i, args);
    if (!hy_tensor_present(&tensor)) continue;
    const auto* const data = static_cast<const unsigned char*>(tensor.data);
    // One without elements lies nowhere, and nothing of it is moved.
    places_[i] = {buffer_.get(), 0};
    for (const Range& range : ranges_) {
      if (data >= range.host && data < range.host + range.bytes) {
        places_[i].offset = range.offset + static_cast<uint64_t>(data - range.host);
      }
    }
  }
}

absl::StatusOr<DeviceOperands> DeviceOperands::Make(const hal::Device& device,
                                                    const registry::Op& op, const void* args) {
  DeviceOperands made;
  made.ranges_ = RangesOf(op, args);
  made.bytes_ = made.PlaceRanges();
  hal::AllocRequest request;
  request.bytes = made.bytes_;
  request.alignment = kAlignment;
  HY_ASSIGN_OR_RETURN(hal::Buffer buffer, device.Allocate(request));
  made.buffer_ = std::make_unique<hal::Buffer>(std::move(buffer));
  std::vector<uint8_t> image(made.bytes_, kCanary);
  for (const Range& range : made.ranges_) {
    std::copy_n(range.host, range.bytes, image.data() + range.offset);
  }
  HY_RETURN_IF_ERROR(made.buffer_->Write(0, image));
  made.FindPlaces(op, args);
  return made;
}

absl::Status DeviceOperands::Download() const {
  for (const Range& range : ranges_) {
    if (!range.written) continue;
    HY_RETURN_IF_ERROR(buffer_->Read(range.offset, absl::MakeSpan(range.host, range.bytes)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> DeviceOperands::Damage() const {
  std::vector<uint8_t> image(bytes_);
  HY_RETURN_IF_ERROR(buffer_->Read(0, absl::MakeSpan(image)));
  uint64_t begin = 0;
  std::string before = "the start";
  for (size_t i = 0; i <= ranges_.size(); ++i) {
    const uint64_t end = i < ranges_.size() ? ranges_[i].offset : bytes_;
    for (uint64_t at = begin; at < end; ++at) {
      if (image[at] == kCanary) continue;
      return absl::StrCat("byte ", at - begin, " behind ", before, " in the device's buffer was ",
                          "written");
    }
    if (i == ranges_.size()) break;
    const Range& range = ranges_[i];
    begin = range.offset + range.bytes;
    before = range.names;
    if (!range.written &&
        !std::equal(range.host, range.host + range.bytes, image.data() + range.offset)) {
      return absl::StrCat(range.names, " was changed in the device's buffer");
    }
  }
  return std::string();
}

}  // namespace halyard::conformance
