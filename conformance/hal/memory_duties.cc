// SPDX-License-Identifier: Apache-2.0
//
// HAL-MEM: allocation and its placement, the latter as the operating system sees it.
#include <sys/mman.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kMiB = 1024 * 1024;

hy_status TryAlloc(HalContext& context, const hy_alloc_desc& desc, hy_buffer** out) {
  *out = nullptr;
  const hy_status status = context.api().alloc(context.raw_device(), &desc, out, nullptr);
  if (*out != nullptr) context.api().release(HY_KIND_BUFFER, *out);
  return status;
}

/// A buffer with the pages that the host sees, if the port lets the host see them at all.
struct Seen {
  hal::Buffer buffer;
  hal::Mapping map;
  uint8_t* data() const { return static_cast<uint8_t*>(map.data()); }
};

absl::StatusOr<Seen> AllocateSeen(HalContext& context, const hal::AllocRequest& request) {
  absl::StatusOr<hal::Buffer> buffer = context.device().Allocate(request);
  if (!buffer.ok()) return buffer.status();
  absl::StatusOr<hal::Mapping> map = buffer->Map(0, request.bytes, HY_MAP_READ | HY_MAP_WRITE);
  if (!map.ok()) return map.status();
  return Seen{*std::move(buffer), *std::move(map)};
}

// Why pages of this device cannot be looked at from the host; empty if they can.
std::string WhyUnseen(HalContext& context) {
  if (context.emulated()) return "an emulator does not show the pages of the machine";
  if (context.api().map == nullptr) return "the host has no pointer into this device's memory";
  const std::vector<hy_memory_class>& classes = context.device().memory_classes();
  if (classes.empty() || (classes[0].flags & HY_MEMORY_HOST_VISIBLE) == 0) {
    return "the default memory class is not visible to the host";
  }
  return "";
}

std::string WhyNoPlacement(HalContext& context, uint64_t known) {
  const std::string unseen = WhyUnseen(context);
  if (!unseen.empty()) return unseen;
  if (known == 0) return "the port does not tell the placement of its memory";
  return "";
}

uint32_t AbsentNode() {
  const std::optional<std::set<uint32_t>> nodes = os::OnlineNodes();
  return nodes.has_value() && !nodes->empty() ? *nodes->rbegin() + 5 : 5;
}

bool TakesNodePolicy(HalContext& context) {
  return (context.device().caps() & HY_CAP_NODE_POLICY) != 0;
}
bool TakesPagePolicy(HalContext& context) {
  return (context.device().caps() & HY_CAP_PAGE_POLICY) != 0;
}

// A page size that no kernel has.
constexpr uint64_t kImpossiblePage = UINT64_C(1) << 52;

}  // namespace

HY_DUTY("HAL-MEM-01", SenselessSizesAreRefused) {
  hy_buffer* buffer = nullptr;
  HY_EXPECT_STATUS(TryAlloc(context, RawAlloc(0), &buffer), HY_INVALID_ARGUMENT);
  for (const uint64_t alignment : {3u, 24u, 4097u}) {
    hy_alloc_desc desc = RawAlloc(4096);
    desc.alignment = alignment;
    HY_EXPECT_STATUS(TryAlloc(context, desc, &buffer), HY_INVALID_ARGUMENT);
  }
  uint64_t most = 0;
  ASSERT_EQ(
      hy_query_u64(&context.api(), HY_KIND_DEVICE, context.raw_device(), HY_QUERY_MAX_ALLOC, &most),
      HY_OK);
  for (const uint64_t bytes : {most + 1, UINT64_MAX - 4095, UINT64_MAX}) {
    if (bytes <= most) continue;  // most is the largest number already
    HY_EXPECT_STATUS(TryAlloc(context, RawAlloc(bytes), &buffer), HY_RESOURCE_EXHAUSTED);
  }
}

HY_DUTY("HAL-MEM-01", RefusedByTheCoreToo) {
  hal::AllocRequest request;
  request.bytes = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(context.device().Allocate(request).status()));
  request.bytes = 64;
  request.alignment = 48;
  EXPECT_TRUE(absl::IsInvalidArgument(context.device().Allocate(request).status()));
  request.alignment = 0;
  request.bytes = UINT64_MAX;
  EXPECT_TRUE(absl::IsResourceExhausted(context.device().Allocate(request).status()));
}

HY_DUTY("HAL-MEM-02", MemoryIsAlignedAsAsked) {
  const std::string unseen = WhyUnseen(context);
  if (!unseen.empty() && !context.emulated()) GTEST_SKIP() << unseen;
  if (context.api().map == nullptr) GTEST_SKIP() << "the host has no pointer into this memory";
  const uint64_t least = context.device().min_alignment();
  for (uint64_t alignment = 1; alignment <= os::BasePageBytes(); alignment *= 2) {
    // Several at once: one alone may lie well by chance.
    std::vector<Seen> kept;
    for (const uint64_t bytes : {1u, 17u, 100u, 5000u}) {
      hal::AllocRequest request;
      request.bytes = bytes;
      request.alignment = alignment;
      HY_ASSERT_OK_AND_ASSIGN(Seen seen, AllocateSeen(context, request));
      const auto address = reinterpret_cast<uintptr_t>(seen.data());
      EXPECT_EQ(address % alignment, 0u) << bytes << " bytes aligned to " << alignment;
      EXPECT_EQ(address % least, 0u) << bytes << " bytes, least alignment " << least;
      kept.push_back(std::move(seen));
    }
  }
}

HY_DUTY("HAL-MEM-03", ZeroedMemoryReadsZero) {
  // Memory that was dirty before is the hard case: sizes repeat so that the port reuses it.
  for (const uint64_t bytes : {1u, 4097u, 300'000u}) {
    for (int round = 0; round < 4; ++round) {
      hal::AllocRequest request;
      request.bytes = bytes;
      request.flags = HY_ALLOC_ZERO;
      HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, context.device().Allocate(request));
      Bytes got(static_cast<size_t>(bytes), 1);
      HY_ASSERT_OK(buffer.Read(0, absl::MakeSpan(got)));
      ASSERT_EQ(FirstDifference(got, Bytes(got.size(), 0)), "") << bytes << " bytes";
      HY_ASSERT_OK(buffer.Write(0, Bytes(got.size(), 0xff)));
    }
  }
}

HY_DUTY("HAL-MEM-04", PrefaultedPagesAreThere) {
  const std::string unseen = WhyUnseen(context);
  if (!unseen.empty()) GTEST_SKIP() << unseen;
  hal::AllocRequest request;
  request.bytes = 8 * kMiB + 123;
  request.flags = HY_ALLOC_PREFAULT;
  HY_ASSERT_OK_AND_ASSIGN(Seen seen, AllocateSeen(context, request));
  const std::optional<uint64_t> resident = os::ResidentBytes(seen.data(), request.bytes);
  if (!resident.has_value()) GTEST_SKIP() << "the system does not tell which pages are there";
  context.Fact("resident_bytes", absl::StrCat(*resident));
  EXPECT_GE(*resident, request.bytes) << "pages are missing after an alloc with PREFAULT";
}

HY_DUTY("HAL-MEM-04", TouchingNeverFaultsLate) {
  if (context.api().map == nullptr) GTEST_SKIP() << "the host has no pointer into this memory";
  // Every wish in turn; a size without free pages is where reservations that are none show.
  std::vector<std::vector<uint64_t>> wishes = {{}};
  if (TakesPagePolicy(context)) {
    wishes.push_back({HY_PAGE_TRANSPARENT});
    for (const uint64_t page : context.device().page_sizes()) {
      if (page <= 64 * kMiB) wishes.push_back({page});
    }
  }
  for (const std::vector<uint64_t>& pages : wishes) {
    for (const bool require : {false, true}) {
      hal::AllocRequest request;
      request.bytes = 4 * kMiB;
      request.pages = pages;
      request.require_pages = require;
      const absl::StatusOr<Seen> seen = AllocateSeen(context, request);
      if (!seen.ok()) {
        EXPECT_TRUE(require) << "a preference made alloc fail: " << seen.status();
        continue;
      }
      // A late failure is a SIGBUS here, which the runner reports as a crash.
      for (uint64_t offset = 0; offset < request.bytes; offset += 4096) {
        seen->data()[offset] = static_cast<uint8_t>(offset);
      }
    }
  }
}

HY_DUTY("HAL-MEM-05", PlacementIsWhatTheSystemSays) {
  hal::AllocRequest request;
  request.bytes = 6 * kMiB;
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, context.device().Allocate(request));
  const absl::StatusOr<hal::Placement> told = buffer.QueryPlacement();
  if (absl::IsUnimplemented(told.status())) GTEST_SKIP() << "the port tells no placement";
  HY_ASSERT_OK(told.status());
  const std::string why = WhyNoPlacement(context, told->known);
  if (!why.empty()) GTEST_SKIP() << why;
  HY_ASSERT_OK_AND_ASSIGN(hal::Mapping map, buffer.Map(0, request.bytes, HY_MAP_READ));
  const std::optional<os::MappingInfo> seen = os::MappingOf(map.data());
  if (!seen.has_value()) GTEST_SKIP() << "the system shows no mapping at the buffer's address";
  if ((told->known & HY_KNOWN_PAGES) != 0) {
    const std::optional<uint64_t> resident = os::ResidentBytes(map.data(), request.bytes);
    if (resident.has_value()) {
      EXPECT_LE(told->resident_bytes, *resident + 64 * 4096);
      EXPECT_GE(told->resident_bytes + 64 * 4096, std::min(*resident, request.bytes));
    }
    EXPECT_LE(told->huge_bytes, seen->anon_huge_bytes + seen->hugetlb_bytes);
    if (seen->anon_huge_bytes + seen->hugetlb_bytes == 0) {
      EXPECT_EQ(told->page_bytes, seen->kernel_page_bytes);
    }
  }
  if ((told->known & HY_KNOWN_NODES) == 0) return;
  std::set<uint32_t> nodes;
  for (uint64_t offset = 0; offset < request.bytes; offset += os::BasePageBytes()) {
    const std::optional<uint32_t> node =
        os::NodeOfPage(static_cast<const uint8_t*>(map.data()) + offset);
    if (node.has_value()) nodes.insert(*node);
  }
  uint64_t total = 0;
  for (const hy_node_bytes& node : told->nodes) {
    total += node.bytes;
    EXPECT_EQ(nodes.count(node.node_id), 1u)
        << "reported node " << node.node_id << ", on which the system has no page of the buffer";
  }
  EXPECT_EQ(nodes.size(), told->nodes.size());
  EXPECT_LE(total, request.bytes + os::BasePageBytes());
  EXPECT_GE(total + os::BasePageBytes(), std::min(told->resident_bytes, request.bytes));
}

HY_DUTY("HAL-MEM-05", NodesAskedForAreNodesHad) {
  if (!TakesNodePolicy(context)) GTEST_SKIP() << "the port takes no node policies";
  const std::string unseen = WhyUnseen(context);
  if (!unseen.empty()) GTEST_SKIP() << unseen;
  const std::optional<std::set<uint32_t>> allowed = os::AllowedNodes();
  if (!allowed.has_value()) GTEST_SKIP() << "the system tells no memory nodes";
  for (const uint32_t node : *allowed) {
    hal::AllocRequest request;
    request.bytes = 2 * kMiB;
    request.node_policy = HY_NODES_BIND;
    request.nodes = {node};
    request.require_nodes = true;
    const absl::StatusOr<Seen> seen = AllocateSeen(context, request);
    if (!seen.ok()) continue;  // a node without memory refuses, which is its right
    for (uint64_t offset = 0; offset < request.bytes; offset += 64 * 4096) {
      const std::optional<uint32_t> had = os::NodeOfPage(seen->data() + offset);
      if (had.has_value()) {
        EXPECT_EQ(*had, node) << "a page of a buffer bound to node " << node;
      }
    }
  }
}

HY_DUTY("HAL-MEM-06", UnmetPreferencesSayWhy) {
  if (!TakesPagePolicy(context) && !TakesNodePolicy(context)) {
    GTEST_SKIP() << "the port takes no wishes about pages or nodes";
  }
  if (TakesPagePolicy(context)) {
    hal::AllocRequest request;
    request.bytes = 2 * kMiB;
    request.pages = {kImpossiblePage};
    HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, context.device().Allocate(request));
    EXPECT_NE(buffer.alloc_placement().reasons & HY_REASON_FELL_BACK, 0u);
    EXPECT_NE(buffer.alloc_placement().reasons &
                  (HY_REASON_SIZE_UNSUPPORTED | HY_REASON_POLICY_DENIED | HY_REASON_EMULATED),
              0u)
        << "no reason given for a page size that no kernel has";
    for (const uint64_t page : context.device().page_sizes()) {
      if (os::FreeHugePages(page) != std::optional<uint64_t>(0)) continue;
      request.pages = {page};
      HY_ASSERT_OK_AND_ASSIGN(hal::Buffer other, context.device().Allocate(request));
      EXPECT_NE(other.alloc_placement().reasons & HY_REASON_FELL_BACK, 0u) << page;
      EXPECT_NE(other.alloc_placement().reasons & ~HY_REASON_FELL_BACK, 0u)
          << "no reason given though no page of " << page << " bytes is free";
    }
  }
  if (TakesNodePolicy(context)) {
    hal::AllocRequest request;
    request.bytes = 64 * 1024;
    request.node_policy = HY_NODES_BIND;
    request.nodes = {AbsentNode()};
    HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, context.device().Allocate(request));
    EXPECT_NE(buffer.alloc_placement().reasons & HY_REASON_FELL_BACK, 0u);
    EXPECT_NE(buffer.alloc_placement().reasons & (HY_REASON_NODE_ABSENT | HY_REASON_POLICY_DENIED),
              0u)
        << "no reason given for node " << request.nodes[0] << ", which is absent";
  }
}

HY_DUTY("HAL-MEM-07", RequiredWishesFailAtAlloc) {
  std::vector<hal::AllocRequest> requests;
  if (TakesPagePolicy(context)) {
    hal::AllocRequest request;
    request.bytes = 2 * kMiB;
    request.require_pages = true;
    request.pages = {kImpossiblePage};
    requests.push_back(request);
    for (const uint64_t page : context.device().page_sizes()) {
      if (os::FreeHugePages(page) != std::optional<uint64_t>(0)) continue;
      request.pages = {page};
      requests.push_back(request);
    }
  }
  if (TakesNodePolicy(context)) {
    hal::AllocRequest request;
    request.bytes = 64 * 1024;
    request.node_policy = HY_NODES_BIND;
    request.require_nodes = true;
    request.nodes = {AbsentNode()};
    requests.push_back(request);
  }
  if (requests.empty()) GTEST_SKIP() << "the port takes no wishes about pages or nodes";
  const os::Holdings before = os::CurrentHoldings();
  for (const hal::AllocRequest& request : requests) {
    const absl::StatusOr<hal::Buffer> buffer = context.device().Allocate(request);
    ASSERT_FALSE(buffer.ok()) << "a required wish that cannot be met was granted";
    const absl::StatusCode code = buffer.status().code();
    EXPECT_TRUE(code == absl::StatusCode::kNotFound || code == absl::StatusCode::kUnimplemented ||
                code == absl::StatusCode::kPermissionDenied ||
                code == absl::StatusCode::kResourceExhausted)
        << buffer.status();
  }
  EXPECT_EQ(os::CurrentHoldings().service_bytes, before.service_bytes);
}

HY_DUTY("HAL-MEM-08", AbsentNodesAreNeverObtained) {
  if (!TakesNodePolicy(context)) GTEST_SKIP() << "the port takes no node policies";
  const std::optional<std::set<uint32_t>> nodes = os::OnlineNodes();
  for (const uint32_t policy : {HY_NODES_BIND, HY_NODES_INTERLEAVE}) {
    hal::AllocRequest request;
    request.bytes = 256 * 1024;
    request.node_policy = policy;
    request.nodes = {AbsentNode()};
    const absl::StatusOr<hal::Buffer> buffer = context.device().Allocate(request);
    if (!buffer.ok()) continue;
    const absl::StatusOr<hal::Placement> told = buffer->QueryPlacement();
    for (const hal::Placement& placement :
         {buffer->alloc_placement(), told.ok() ? *told : hal::Placement{}}) {
      for (const hy_node_bytes& one : placement.nodes) {
        EXPECT_NE(one.node_id, request.nodes[0]) << "an absent node is reported as obtained";
        if (nodes.has_value() && !context.emulated()) {
          EXPECT_EQ(nodes->count(one.node_id), 1u) << "node " << one.node_id << " does not exist";
        }
      }
    }
  }
}

HY_DUTY("HAL-MEM-09", HugePagesAreReportedOnlyIfGiven) {
  if (!TakesPagePolicy(context)) GTEST_SKIP() << "the port takes no wishes about pages";
  const std::string unseen = WhyUnseen(context);
  if (!unseen.empty()) GTEST_SKIP() << unseen;
  std::vector<uint64_t> wishes = context.device().page_sizes();
  wishes.push_back(HY_PAGE_TRANSPARENT);
  for (const uint64_t page : wishes) {
    if (page > 64 * kMiB) continue;
    hal::AllocRequest request;
    request.bytes = 3 * kMiB;  // no multiple of a huge page
    request.pages = {page};
    HY_ASSERT_OK_AND_ASSIGN(Seen seen, AllocateSeen(context, request));
    const std::optional<os::MappingInfo> mapping = os::MappingOf(seen.data());
    if (!mapping.has_value()) GTEST_SKIP() << "the system shows no mapping at that address";
    const uint64_t had = mapping->anon_huge_bytes + mapping->hugetlb_bytes;
    const absl::StatusOr<hal::Placement> told = seen.buffer.QueryPlacement();
    for (const hal::Placement& placement :
         {seen.buffer.alloc_placement(), told.ok() ? *told : hal::Placement{}}) {
      if ((placement.known & HY_KNOWN_PAGES) == 0) continue;
      EXPECT_LE(placement.huge_bytes, had) << "asked for pages of " << page;
      if (had == 0) {
        EXPECT_LE(placement.page_bytes, os::BasePageBytes())
            << "huge pages reported that the system has not given, asked for " << page;
      }
    }
    context.Fact(absl::StrCat("huge_bytes_of_", page), absl::StrCat(had));
  }
}

HY_DUTY("HAL-MEM-10", EveryByteOfEveryClassIsReached) {
  ASSERT_FALSE(context.device().memory_classes().empty());
  for (const hy_memory_class& one : context.device().memory_classes()) {
    SCOPED_TRACE(absl::StrCat("class ", one.id, " (", one.name, ")"));
    const uint64_t count = std::min<uint64_t>(one.bytes_total == 0 ? 5001 : one.bytes_total, 5001);
    HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, count, one.id));
    EXPECT_EQ(buffer.size_bytes(), count);
    const Bytes by_map = SeededBytes(context.seed() + one.id, static_cast<size_t>(count));
    HY_ASSERT_OK(buffer.Write(0, by_map));
    HY_ASSERT_OK_AND_ASSIGN(const Bytes copied, ReadByCopy(context, buffer, 0, count));
    EXPECT_EQ(FirstDifference(copied, by_map), "") << "written by map, read by copy";
    const Bytes by_copy = SeededBytes(context.seed() + one.id + 1, static_cast<size_t>(count));
    HY_ASSERT_OK(WriteByCopy(context, buffer, 0, by_copy));
    HY_ASSERT_OK_AND_ASSIGN(const Bytes mapped, ReadByMap(buffer, 0, count));
    EXPECT_EQ(FirstDifference(mapped, by_copy), "") << "written by copy, read by map";
  }
}

HY_DUTY("HAL-MEM-11", BuffersDoNotOverlap) {
  Random random(context.seed());
  struct Held {
    hal::Buffer buffer;
    Bytes bytes;
  };
  std::vector<Held> held;
  for (int step = 0; step < 60; ++step) {
    if (held.size() > 20) {
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(random.Below(held.size())));
    }
    const uint64_t count = 1 + random.Below(9000);
    HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, count));
    held.push_back({std::move(buffer), SeededBytes(random.Next(), static_cast<size_t>(count))});
    HY_ASSERT_OK(held.back().buffer.Write(0, held.back().bytes));
  }
  for (const Held& one : held) {
    Bytes got(one.bytes.size());
    HY_ASSERT_OK(one.buffer.Read(0, absl::MakeSpan(got)));
    ASSERT_EQ(FirstDifference(got, one.bytes), "") << "a buffer of " << got.size() << " bytes";
  }
}

DutyTable MemoryDuties() {
  static constexpr DutyTest kTests[] = {
      SenselessSizesAreRefused,       RefusedByTheCoreToo,         MemoryIsAlignedAsAsked,
      ZeroedMemoryReadsZero,          PrefaultedPagesAreThere,     TouchingNeverFaultsLate,
      PlacementIsWhatTheSystemSays,   NodesAskedForAreNodesHad,    UnmetPreferencesSayWhy,
      RequiredWishesFailAtAlloc,      AbsentNodesAreNeverObtained, HugePagesAreReportedOnlyIfGiven,
      EveryByteOfEveryClassIsReached, BuffersDoNotOverlap};
  return kTests;
}

}  // namespace halyard::conformance
