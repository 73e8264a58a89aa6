// SPDX-License-Identifier: Apache-2.0
#include "ports/sim_noncoherent/two_views.h"

#include <algorithm>
#include <cstring>

namespace halyard::sim_noncoherent {
namespace {

// Stores only what differs: another map of the same bytes may be read at the same time.
void CopyDifferent(uint8_t* dst, const uint8_t* src, uint64_t bytes) {
  if (std::memcmp(dst, src, static_cast<size_t>(bytes)) == 0) return;
  for (uint64_t i = 0; i < bytes; ++i) {
    if (dst[i] != src[i]) dst[i] = src[i];
  }
}

}  // namespace

void TwoViews::Fetch(uint64_t offset, uint64_t bytes) {
  CopyDifferent(host_ + offset, device_ + offset, bytes);
  CopyDifferent(clean_ + offset, device_ + offset, bytes);
}

void TwoViews::Publish(uint64_t offset, uint64_t bytes) {
  CopyDifferent(device_ + offset, host_ + offset, bytes);
  CopyDifferent(clean_ + offset, host_ + offset, bytes);
}

void TwoViews::Forget(uint64_t offset, uint64_t bytes) {
  CopyDifferent(host_ + offset, clean_ + offset, bytes);
}

TwoViews::Range TwoViews::RoundOut(uint64_t offset, uint64_t bytes) const {
  const uint64_t last = (offset + bytes + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
  return {offset / kGranuleBytes * kGranuleBytes, std::min(last, bytes_)};
}

void TwoViews::WriteBackDirty(Range lines, Range within) {
  for (uint64_t line = lines.first; line < lines.last; line += kGranuleBytes) {
    const uint64_t first = std::max(line, within.first);
    const uint64_t last = std::min({line + kGranuleBytes, lines.last, within.last});
    if (std::memcmp(host_ + first, clean_ + first, static_cast<size_t>(last - first)) == 0)
      continue;
    Publish(first, last - first);
  }
}

void TwoViews::WriteBack(uint64_t offset, uint64_t bytes) {
  const Range lines = RoundOut(offset, bytes);
  WriteBackDirty(lines, lines);
}

void TwoViews::WriteBackWithin(uint64_t offset, uint64_t bytes) {
  WriteBackDirty(RoundOut(offset, bytes), {offset, offset + bytes});
}

void TwoViews::Invalidate(uint64_t offset, uint64_t bytes) {
  const Range lines = RoundOut(offset, bytes);
  WriteBackDirty(lines, lines);
  Fetch(lines.first, lines.last - lines.first);
}

void TwoViews::Refresh(uint64_t offset, uint64_t bytes) {
  const Range lines = RoundOut(offset, bytes);
  for (uint64_t i = lines.first; i < lines.last; ++i) {
    if (host_[i] != clean_[i] || device_[i] == clean_[i]) continue;
    host_[i] = device_[i];
    clean_[i] = device_[i];
  }
}

}  // namespace halyard::sim_noncoherent
