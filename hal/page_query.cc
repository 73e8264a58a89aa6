// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "absl/types/span.h"
#include "hal/node_policy.h"
#include "hal/page_map.h"
#include "hal/page_wish.h"
#include "hal/pages.h"
#include "hal/smaps.h"
#include "hal/system_view.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

constexpr uint64_t kMaxSamples = 1'024;

struct Range {
  uint64_t begin;  // both are multiples of the base page
  uint64_t end;
  uint64_t bytes() const { return end - begin; }
};

std::vector<void*> SamplePages(const Range& range) {
  const uint64_t page = BasePageBytes();
  const uint64_t pages = range.bytes() / page;
  const size_t samples = static_cast<size_t>(std::min(pages, kMaxSamples));
  std::vector<void*> addresses(samples);
  for (size_t i = 0; i < samples; ++i) {
    // Without overflow, whatever the size: the i-th of `samples` even steps.
    const uint64_t index = pages / samples * i + pages % samples * i / samples;
    addresses[i] = reinterpret_cast<void*>(static_cast<uintptr_t>(range.begin + index * page));
  }
  return addresses;
}

// Share of `bytes` that `part` of `whole` samples stand for; exact when every page is a sample.
uint64_t Share(uint64_t bytes, uint64_t part, uint64_t whole) {
  return bytes / whole * part + bytes % whole * part / whole;
}

// `bytes` are those asked about, spread over the pages.
void QueryNodes(const Range& range, uint64_t bytes, Placement* placement) {
  const std::vector<void*> pages = SamplePages(range);
  std::map<uint32_t, uint64_t> found;
  uint64_t present = 0;
  if (const std::optional<std::vector<int>> nodes = NodesOfPages(pages); nodes.has_value()) {
    for (const int node : *nodes) {
      if (node < 0) continue;
      ++found[static_cast<uint32_t>(node)];
      ++present;
    }
    placement->known |= HY_KNOWN_NODES;
  } else if (const std::optional<std::vector<bool>> in = PagesPresent(pages); in.has_value()) {
    present = static_cast<uint64_t>(std::count(in->begin(), in->end(), true));
  }
  if (found.empty()) placement->resident_bytes = Share(bytes, present, pages.size());
  for (const auto& [node, count] : found) {
    placement->nodes.push_back({node, 0, Share(bytes, count, pages.size())});
    placement->resident_bytes += placement->nodes.back().bytes;
  }
}

// NUMA balancing takes the access away from pages that it watches, and Linux 6.1, for one, leaves a
// huge page out of smaps meanwhile. A look at the page gives the access back.
void EndWatchOfHugePages(const Range& range) {
  const uint64_t huge = TransparentPageBytes();
  const std::string balancing = RealSystem()->Read("proc/sys/kernel/numa_balancing").value_or("0");
  if (huge == 0 || huge > range.bytes() || balancing == "0") return;
  (void)ReadPresentPages(reinterpret_cast<void*>(static_cast<uintptr_t>(range.begin)),
                         range.bytes(), huge);
}

// Bytes of the range in each page size; nothing known (empty) unless the areas cover all of it and
// their counts can be told for the range alone.
std::map<uint64_t, uint64_t> SizesOf(const Range& range, uint64_t resident_bytes) {
  std::map<uint64_t, uint64_t> sizes;
  uint64_t covered = 0;
  uint64_t present = 0;
  for (const SmapsArea& area : ReadOwnSmaps(range.begin, range.end)) {
    const uint64_t overlap = std::min(area.end, range.end) - std::max(area.begin, range.begin);
    uint64_t huge = area.transparent_bytes;
    if (overlap < area.end - area.begin && huge != 0) {
      // The counts are of the whole area: only "all of it" says something of a part.
      if (huge < area.end - area.begin) return {};
      huge = overlap;
    }
    if (area.page_bytes == 0) return {};
    if (huge != 0) sizes[TransparentPageBytes()] += huge;
    if (overlap > huge) sizes[area.page_bytes] += overlap - huge;
    covered += overlap;
    present += area.present_bytes;
  }
  if (covered < range.bytes()) return {};
  // Emulators show a table of zeros: pages are there, and the table has none.
  if (resident_bytes != 0 && present == 0) return {};
  return sizes;
}

}  // namespace

Placement QueryPages(const void* ptr, uint64_t bytes) {
  Placement placement;
  const uint64_t page = BasePageBytes();
  const uint64_t address = reinterpret_cast<uintptr_t>(ptr);
  if (ptr == nullptr || bytes == 0 || address > UINTPTR_MAX - page ||
      bytes > UINTPTR_MAX - page - address)
    return placement;
  const Range range = {address & ~(page - 1), RoundUp(address + bytes, page)};
  QueryNodes(range, bytes, &placement);
  EndWatchOfHugePages(range);
  const std::map<uint64_t, uint64_t> sizes = SizesOf(range, placement.resident_bytes);
  uint64_t most = 0;
  for (const auto& [size, in_size] : sizes) {
    if (in_size >= most) {
      most = in_size;
      placement.page_bytes = size;
    }
    if (size > page) placement.huge_bytes += in_size;
    placement.known |= HY_KNOWN_PAGES;
  }
  // The range was rounded out to pages; nothing is said of bytes that were not asked about.
  placement.huge_bytes = std::min(placement.huge_bytes, bytes);
  return placement;
}

hy_status ExportPlacement(const Placement& placement, hy_placement* out) {
  if (out == nullptr) return HY_INVALID_ARGUMENT;
  uint32_t given_bytes = 0;
  std::memcpy(&given_bytes, out, sizeof given_bytes);
  hy_placement raw = {};
  std::memcpy(&raw, out, std::min<size_t>(given_bytes, sizeof raw));
  raw.reserved = 0;
  raw.known = placement.known;
  raw.page_bytes = placement.page_bytes;
  raw.huge_bytes = placement.huge_bytes;
  raw.resident_bytes = placement.resident_bytes;
  raw.reasons = placement.reasons;
  const hy_status filled = hy_fill_array(&raw.nodes, placement.nodes.data(), sizeof(hy_node_bytes),
                                         static_cast<uint32_t>(placement.nodes.size()));
  const hy_status written = hy_write_struct(out, &raw, sizeof raw);
  return written != HY_OK ? written : filled;
}

}  // namespace halyard::hal
