// SPDX-License-Identifier: Apache-2.0
#include "hal/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "hal/memory_limit.h"
#include "hal/node_policy.h"
#include "hal/page_map.h"
#include "hal/page_wish.h"
#include "hal/smaps.h"
#include "hal/system_view.h"

namespace halyard::hal {
namespace {

// Below this the question what can still be filled costs more than it tells.
constexpr uint64_t kAskLimitFromBytes = UINT64_C(4) << 20;

// What became of one rung: a region, or why not.
struct Outcome {
  Region region;  // ptr is NULL if the rung failed
  Placement placement;
  uint64_t reasons = 0;      // HY_REASON_*, also of a rung that held
  bool ends_ladder = false;  // no other rung can do better
};

class Registry {
 public:
  void Add(const Region& region) {
    const std::lock_guard<std::mutex> lock(mutex_);
    regions_[region.ptr] = region;
  }

  bool Take(void* ptr, Region* out_region) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = regions_.find(ptr);
    if (found == regions_.end()) return false;
    *out_region = found->second;
    regions_.erase(found);
    return true;
  }

 private:
  std::mutex mutex_;
  absl::flat_hash_map<void*, Region> regions_;
};

// Never destroyed: buffers may be freed while the process ends.
Registry& Regions() {
  static Registry& registry = *new Registry;
  return registry;
}

bool IsHugeRung(uint64_t rung) { return rung > BasePageBytes(); }

bool HasPageSize(uint64_t bytes) {
  const std::vector<uint64_t> sizes = ListPageSizes();
  return std::find(sizes.begin(), sizes.end(), bytes) != sizes.end();
}

// Free and not promised huge pages of a size.
uint64_t FreeHugePages(uint64_t page_bytes) {
  const std::string folder =
      absl::StrCat("sys/kernel/mm/hugepages/hugepages-", page_bytes / 1'024, "kB/");
  uint64_t free = 0;
  uint64_t promised = 0;
  const bool read =
      absl::SimpleAtoi(RealSystem()->Read(folder + "free_hugepages").value_or(""), &free) &&
      absl::SimpleAtoi(RealSystem()->Read(folder + "resv_hugepages").value_or(""), &promised);
  return read && free > promised ? free - promised : 0;
}

uint64_t ReasonOfMapError(int error, uint64_t rung, uint64_t bytes) {
  if (error == EPERM || error == EACCES || error == ENOSYS) return HY_REASON_POLICY_DENIED;
  if (IsHugeRung(rung) && error != ENOMEM && error != EAGAIN) return HY_REASON_SIZE_UNSUPPORTED;
  if (!IsHugeRung(rung)) return HY_REASON_LIMIT;  // address space, commit limit, number of areas
  // The pool has enough, and still the answer is no: a control group or the address space.
  const bool enough = FreeHugePages(rung) >= RoundUp(bytes, rung) / rung;
  return enough ? HY_REASON_LIMIT : HY_REASON_POOL_EMPTY;
}

uint64_t ReasonOfPolicyError(int error) {
  return error == EINVAL ? HY_REASON_NODE_ABSENT : HY_REASON_POLICY_DENIED;
}

int MapRung(const PageWish& wish, uint64_t rung, Region* region) {
  if (IsHugeRung(rung)) return MapHuge(wish.bytes, wish.alignment, rung, region);
  const uint64_t alignment = rung == HY_PAGE_TRANSPARENT && wish.bytes >= TransparentPageBytes()
                                 ? std::max(wish.alignment, TransparentPageBytes())
                                 : wish.alignment;
  return MapBase(wish.bytes, alignment, region);
}

// Why no transparent huge page came although the advice was accepted.
uint64_t ReasonOfNoTransparent(const Region& region, const Placement& placement) {
  const uint64_t page = TransparentPageBytes();
  if (page == 0 || region.bytes < page) return HY_REASON_SIZE_UNSUPPORTED;
  const std::string mode =
      RealSystem()->Read("sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  if (mode.find("[never]") != std::string::npos) return HY_REASON_POLICY_DENIED;
  const uint64_t begin = reinterpret_cast<uintptr_t>(region.ptr);
  const std::vector<SmapsArea> areas = ReadOwnSmaps(begin, begin + region.bytes);
  const bool advice_seen = !areas.empty() && areas.front().huge_advised;
  const bool known = (placement.known & HY_KNOWN_PAGES) != 0;
  return known && advice_seen ? HY_REASON_POOL_EMPTY : HY_REASON_EMULATED;
}

// Whole huge pages that fit into the region, which begins at a multiple of one.
uint64_t FullTransparentBytes(const Region& region) {
  const uint64_t page = TransparentPageBytes();
  return page == 0 ? 0 : region.bytes / page * page;
}

// True if what was read back is what the rung is about.
bool CheckPages(const PageWish& wish, uint64_t rung, Outcome* outcome) {
  Placement& placement = outcome->placement;
  if (rung != HY_PAGE_TRANSPARENT) {
    // The kernel has reserved them and brought them in: only an emulator lets that look otherwise,
    // and then a wish that is required has not been shown to hold.
    const bool known = (placement.known & HY_KNOWN_PAGES) != 0;
    const bool holds =
        !IsHugeRung(rung) || (known ? placement.huge_bytes >= wish.bytes : !wish.pages_required);
    if (!holds) outcome->reasons |= HY_REASON_EMULATED;
    return holds;
  }
  if (placement.huge_bytes < FullTransparentBytes(outcome->region)) {
    CollapseTransparent(outcome->region);
    placement = QueryPages(outcome->region.ptr, wish.bytes);
  }
  const uint64_t full = std::min(FullTransparentBytes(outcome->region), wish.bytes);
  if (placement.huge_bytes >= full && full != 0) return true;
  outcome->reasons |= ReasonOfNoTransparent(outcome->region, placement);
  return placement.huge_bytes != 0 && !wish.pages_required;
}

// True if no page lies outside the nodes that were named. What is not known is not held against it.
bool CheckNodes(const NodePlan& plan, Outcome* outcome) {
  if (plan.nodes.empty()) return true;
  for (const hy_node_bytes& node : outcome->placement.nodes) {
    if (std::find(plan.nodes.begin(), plan.nodes.end(), node.node_id) != plan.nodes.end()) continue;
    outcome->reasons |= plan.required ? HY_REASON_EMULATED : HY_REASON_POOL_EMPTY;
    return false;
  }
  return true;
}

int AdviseRung(const PageWish& wish, uint64_t rung, const Region& region) {
  if (rung == HY_PAGE_TRANSPARENT) return AdviseTransparent(region);
  // Base pages that are required are just that, also where the system likes to join them. A kernel
  // that knows no huge pages refuses the advice, and needs none.
  if (!IsHugeRung(rung) && wish.pages_required) (void)ForbidTransparent(region);
  return 0;
}

// Fills a mapped region; false, with reasons, if the rung does not hold.
bool FillRung(const PageWish& wish, uint64_t rung, const NodePlan& plan, Outcome* outcome) {
  const Region& region = outcome->region;
  if (AdviseRung(wish, rung, region) != 0) {
    outcome->reasons |= HY_REASON_SIZE_UNSUPPORTED;
    return false;
  }
  if (const int error = ApplyNodePlan(region.ptr, region.bytes, plan); error != 0) {
    outcome->reasons |= ReasonOfPolicyError(error);
    outcome->ends_ladder = plan.required;
    if (plan.required) return false;
    outcome->reasons |= HY_REASON_FELL_BACK;
  }
  if (wish.prefault || rung == HY_PAGE_TRANSPARENT || IsHugeRung(rung)) {
    const uint64_t page = IsHugeRung(rung) ? rung : BasePageBytes();
    if (!IsHugeRung(rung) && wish.bytes >= kAskLimitFromBytes &&
        wish.bytes > FillableBytes(*RealSystem())) {
      outcome->reasons |= HY_REASON_LIMIT;
      return false;
    }
    if (Populate(region, page) != 0) {
      outcome->reasons |= IsHugeRung(rung) ? HY_REASON_POOL_EMPTY : HY_REASON_LIMIT;
      return false;
    }
  }
  outcome->placement = QueryPages(region.ptr, wish.bytes);
  if (!CheckPages(wish, rung, outcome)) return false;
  if (!CheckNodes(plan, outcome)) {
    if (plan.required) return false;
    outcome->reasons |= HY_REASON_FELL_BACK;
  }
  return true;
}

Outcome TryRung(const PageWish& wish, uint64_t rung, const NodePlan& plan) {
  Outcome outcome;
  // Asked before the kernel is: emulators drop the size, and would give pages of another one.
  if (rung > HY_PAGE_TRANSPARENT && !HasPageSize(rung)) {
    outcome.reasons = HY_REASON_SIZE_UNSUPPORTED;
    return outcome;
  }
  if (const int error = MapRung(wish, rung, &outcome.region); error != 0) {
    outcome.region = {};
    outcome.reasons = ReasonOfMapError(error, rung, wish.bytes);
    return outcome;
  }
  if (!FillRung(wish, rung, plan, &outcome)) {
    Unmap(outcome.region);
    outcome.region = {};
  }
  return outcome;
}

std::string ReasonText(uint64_t reasons) {
  std::vector<const char*> words;
  if ((reasons & HY_REASON_POOL_EMPTY) != 0) words.push_back("no free pages of that size");
  if ((reasons & HY_REASON_SIZE_UNSUPPORTED) != 0) words.push_back("no such page size here");
  if ((reasons & HY_REASON_POLICY_DENIED) != 0) words.push_back("the system denies the policy");
  if ((reasons & HY_REASON_NODE_ABSENT) != 0) words.push_back("no such memory node here");
  if ((reasons & HY_REASON_LIMIT) != 0) words.push_back("a memory limit is reached");
  if ((reasons & HY_REASON_EMULATED) != 0) words.push_back("the system says yes and does nothing");
  return absl::StrJoin(words, ", ");
}

absl::Status Failure(const PageWish& wish, uint64_t reasons) {
  const std::string message =
      absl::StrCat("cannot allocate ", wish.bytes, " bytes as required: ", ReasonText(reasons));
  if ((reasons & (HY_REASON_POOL_EMPTY | HY_REASON_LIMIT)) != 0) {
    return absl::ResourceExhaustedError(message);
  }
  if ((reasons & HY_REASON_NODE_ABSENT) != 0) return absl::NotFoundError(message);
  if ((reasons & (HY_REASON_SIZE_UNSUPPORTED | HY_REASON_EMULATED)) != 0) {
    return absl::UnimplementedError(message);
  }
  return absl::PermissionDeniedError(message);
}

}  // namespace

absl::StatusOr<void*> AllocatePages(const hy_alloc_desc& desc, Placement* out_placement) {
  HY_ASSIGN_OR_RETURN(const PageWish wish, ReadPageWish(desc));
  HY_ASSIGN_OR_RETURN(const NodePlan plan, PlanNodes(wish));
  uint64_t reasons = plan.reasons;
  if (reasons != 0) reasons |= HY_REASON_FELL_BACK;
  for (const uint64_t rung : wish.rungs) {
    Outcome outcome = TryRung(wish, rung, plan);
    reasons |= outcome.reasons;
    if (outcome.region.ptr != nullptr) {
      Regions().Add(outcome.region);
      if (out_placement != nullptr) {
        *out_placement = std::move(outcome.placement);
        out_placement->reasons = reasons;
      }
      return outcome.region.ptr;
    }
    if (outcome.ends_ladder) break;
    reasons |= HY_REASON_FELL_BACK;
  }
  return Failure(wish, reasons);
}

absl::Status FreePages(void* ptr) {
  Region region;
  if (!Regions().Take(ptr, &region)) {
    return absl::InvalidArgumentError("not a pointer from this allocator, or freed before");
  }
  const int error = Unmap(region);
  if (error == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("unmapping failed: ", std::strerror(error)));
}

std::vector<uint64_t> ListPageSizes() {
  std::vector<uint64_t> sizes;
  for (const std::string& name : RealSystem()->List("sys/kernel/mm/hugepages")) {
    absl::string_view digits = name;
    uint64_t kib = 0;
    if (absl::ConsumePrefix(&digits, "hugepages-") && absl::ConsumeSuffix(&digits, "kB") &&
        absl::SimpleAtoi(digits, &kib) && kib * 1'024 > BasePageBytes()) {
      sizes.push_back(kib * 1'024);
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.insert(sizes.begin(), BasePageBytes());
  return sizes;
}

}  // namespace halyard::hal
