// SPDX-License-Identifier: Apache-2.0
//
// Source   mbind(2), get_mempolicy(2), move_pages(2), mincore(2).
#include "hal/node_policy.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/cpu_list.h"
#include "hal/system_view.h"

namespace halyard::hal {
namespace {

// The kernel's numbers; its header is older than the last of them on some systems.
using KernelWord = unsigned long;  // also masks of nodes are arrays of the kernel's `long`
constexpr KernelWord kPolicyPreferred = 1;
constexpr KernelWord kPolicyBind = 2;
constexpr KernelWord kPolicyInterleave = 3;
constexpr KernelWord kPolicyLocal = 4;
constexpr KernelWord kPolicyPreferredMany = 5;  // Linux 5.15
constexpr KernelWord kQueryNode = 1;
constexpr KernelWord kQueryAddress = 2;
constexpr KernelWord kQueryAllowed = 4;

constexpr uint32_t kWordBits = sizeof(KernelWord) * CHAR_BIT;
constexpr uint32_t kMaxNodes = 4'096;

std::vector<KernelWord> MaskOf(absl::Span<const uint32_t> nodes) {
  std::vector<KernelWord> mask(1, 0);
  for (const uint32_t node : nodes) {
    mask.resize(std::max<size_t>(mask.size(), node / kWordBits + 1), 0);
    mask[node / kWordBits] |= KernelWord{1} << (node % kWordBits);
  }
  return mask;
}

int Bind(void* ptr, uint64_t bytes, KernelWord mode, absl::Span<const uint32_t> nodes) {
  for (const uint32_t node : nodes) {
    if (node >= kMaxNodes) return EINVAL;
  }
  const std::vector<KernelWord> mask = MaskOf(nodes);
  // The call counts bits plus one.
  const KernelWord max_node = nodes.empty() ? 0 : mask.size() * kWordBits + 1;
  const long rc = syscall(SYS_mbind, ptr, static_cast<size_t>(bytes), mode,
                          nodes.empty() ? nullptr : mask.data(), max_node, 0u);
  return rc == 0 ? 0 : errno;
}

std::optional<std::vector<uint32_t>> AllowedNodes() {
  std::vector<KernelWord> mask(kMaxNodes / kWordBits, 0);
  if (syscall(SYS_get_mempolicy, nullptr, mask.data(), static_cast<KernelWord>(kMaxNodes), nullptr,
              kQueryAllowed) != 0) {
    return std::nullopt;
  }
  std::vector<uint32_t> nodes;
  for (uint32_t node = 0; node < kMaxNodes; ++node) {
    if (((mask[node / kWordBits] >> (node % kWordBits)) & 1) != 0) nodes.push_back(node);
  }
  return nodes;
}

// One page at a time, for systems that forbid move_pages. Asks for pages that are present only,
// since the call would bring others in.
std::optional<std::vector<int>> NodesOneByOne(absl::Span<void* const> pages) {
  const std::optional<std::vector<bool>> present = PagesPresent(pages);
  if (!present.has_value()) return std::nullopt;
  std::vector<int> nodes(pages.size(), -ENOENT);
  for (size_t i = 0; i < pages.size(); ++i) {
    if (!(*present)[i]) continue;
    if (syscall(SYS_get_mempolicy, &nodes[i], nullptr, KernelWord{0}, pages[i],
                kQueryNode | kQueryAddress) != 0) {
      return std::nullopt;
    }
  }
  return nodes;
}

}  // namespace

std::optional<std::vector<uint32_t>> UsableNodes() {
  std::optional<std::vector<uint32_t>> allowed = AllowedNodes();
  if (!allowed.has_value()) return std::nullopt;
  // A kernel without cpusets allows every node that it could ever have.
  const std::optional<std::string> text = RealSystem()->Read("sys/devices/system/node/has_memory");
  if (!text.has_value()) return allowed;
  const absl::StatusOr<std::vector<uint32_t>> with_memory = ParseCpuList(*text);
  if (!with_memory.ok()) return allowed;
  std::vector<uint32_t> usable;
  std::set_intersection(allowed->begin(), allowed->end(), with_memory->begin(), with_memory->end(),
                        std::back_inserter(usable));
  return usable;
}

std::optional<uint32_t> CurrentNode() {
  unsigned node = 0;
  if (syscall(SYS_getcpu, nullptr, &node, nullptr) != 0) return std::nullopt;
  return node;
}

absl::StatusOr<NodePlan> PlanNodes(const PageWish& wish) {
  NodePlan plan;
  plan.policy = wish.node_policy;
  plan.required = wish.nodes_required;
  plan.nodes = wish.nodes;
  plan.wanted = wish.node_policy != HY_NODES_DEFAULT;
  if (!plan.wanted) return plan;
  const std::optional<std::vector<uint32_t>> usable = UsableNodes();
  if (!usable.has_value()) return plan;  // the call that sets the policy will say why
  if (plan.policy == HY_NODES_INTERLEAVE && plan.nodes.empty()) plan.nodes = *usable;
  if (plan.policy == HY_NODES_LOCAL && plan.required) {
    // The kernel's own "local" goes elsewhere when the node is full.
    const std::optional<uint32_t> here = CurrentNode();
    if (here.has_value()) plan.nodes = {*here};
  }
  std::vector<uint32_t> left;
  for (const uint32_t node : plan.nodes) {
    if (std::binary_search(usable->begin(), usable->end(), node)) {
      left.push_back(node);
    } else if (plan.required) {
      return absl::NotFoundError(absl::StrCat(
          "memory node ", node,
          " is offline, not allowed or without memory; usable: ", FormatCpuList(*usable)));
    } else {
      plan.reasons |= HY_REASON_NODE_ABSENT;
    }
  }
  plan.nodes = std::move(left);
  if (plan.nodes.empty() && plan.policy != HY_NODES_LOCAL) plan.wanted = false;
  return plan;
}

int ApplyNodePlan(void* ptr, uint64_t bytes, const NodePlan& plan) {
  if (!plan.wanted) return 0;
  if (plan.policy == HY_NODES_INTERLEAVE) return Bind(ptr, bytes, kPolicyInterleave, plan.nodes);
  if (plan.required) return Bind(ptr, bytes, kPolicyBind, plan.nodes);
  if (plan.policy == HY_NODES_LOCAL) return Bind(ptr, bytes, kPolicyLocal, {});
  if (plan.nodes.size() > 1) {
    const int error = Bind(ptr, bytes, kPolicyPreferredMany, plan.nodes);
    if (error != EINVAL) return error;
  }
  return Bind(ptr, bytes, kPolicyPreferred, absl::MakeConstSpan(plan.nodes).subspan(0, 1));
}

std::optional<std::vector<int>> NodesOfPages(absl::Span<void* const> pages) {
  std::vector<int> nodes(pages.size(), -ENOENT);
  if (pages.empty()) return nodes;
  const long rc = syscall(SYS_move_pages, 0, static_cast<KernelWord>(pages.size()), pages.data(),
                          nullptr, nodes.data(), 0);
  if (rc == 0) return nodes;
  return NodesOneByOne(pages);
}

std::optional<std::vector<bool>> PagesPresent(absl::Span<void* const> pages) {
  std::vector<bool> present(pages.size(), false);
  for (size_t i = 0; i < pages.size(); ++i) {
    unsigned char state = 0;
    if (mincore(pages[i], 1, &state) == 0) {
      present[i] = (state & 1) != 0;
    } else if (errno != ENOMEM) {  // ENOMEM: nothing is mapped there
      return std::nullopt;
    }
  }
  return present;
}

}  // namespace halyard::hal
