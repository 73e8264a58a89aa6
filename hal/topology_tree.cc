// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cpu_list.h"
#include "hal/topology_draw.h"

namespace halyard::hal {
namespace {

using Pus = std::vector<const hy_pu*>;

// So many like parts in a row are one line.
constexpr size_t kFoldClusters = 3;
constexpr size_t kFoldCaches = 17;

struct Branch {
  std::string text;
  Pus pus;
  std::vector<Branch> parts;
  bool joins_only_part = false;  // "L3 32 MiB: cores 0-7" on one line
};

std::vector<uint32_t> Values(const Pus& pus, uint32_t hy_pu::*field) {
  std::set<uint32_t> values;
  for (const hy_pu* pu : pus) values.insert(pu->*field);
  return {values.begin(), values.end()};
}

// "SMT2" or, where cores differ, "SMT1-2"; empty if all cores have one thread.
std::string SmtName(const Pus& pus) {
  std::map<uint32_t, size_t> threads;
  for (const hy_pu* pu : pus) ++threads[pu->core_id];
  size_t least = SIZE_MAX;
  size_t most = 0;
  for (const auto& [core, count] : threads) {
    least = std::min(least, count);
    most = std::max(most, count);
  }
  if (most <= 1) return "";
  return least == most ? absl::StrCat("SMT", most) : absl::StrCat("SMT", least, "-", most);
}

class TreeBuilder {
 public:
  explicit TreeBuilder(const Topology& topology) : topology_(topology) {
    std::map<uint32_t, std::set<uint32_t>> packages_of_node;
    for (const hy_pu& pu : topology.pus) {
      all_.push_back(&pu);
      by_cache_[pu.llc_id].push_back(&pu);
      by_cluster_[{pu.package_id, pu.cluster_id}].push_back(&pu);
      packages_of_node[pu.node_id].insert(pu.package_id);
    }
    many_classes_ = Values(all_, &hy_pu::perf_class).size() > 1;
    // Packages are in nodes where a node has several, as on boards that call a cluster a package.
    const bool nodes_first = std::any_of(packages_of_node.begin(), packages_of_node.end(),
                                         [](const auto& each) { return each.second.size() > 1; });
    levels_ = {&TreeBuilder::SplitPackages, &TreeBuilder::SplitNodes, &TreeBuilder::SplitCaches,
               &TreeBuilder::SplitClusters, &TreeBuilder::SplitClasses};
    if (nodes_first) std::swap(levels_[0], levels_[1]);
  }

  std::vector<Branch> Build() {
    std::vector<Branch> tree = Split(all_, 0);
    AddNodesWithoutUnits(&tree);
    return tree;
  }

 private:
  using Splitter = std::vector<Branch> (TreeBuilder::*)(const Pus& pus) const;

  // The parts of a level; one without text stands for no line of its own.
  std::vector<Branch> Split(const Pus& pus, size_t level) const {
    std::vector<Branch> branches;
    if (level == levels_.size()) return branches;
    for (Branch& branch : (this->*levels_[level])(pus)) {
      std::vector<Branch> parts = Split(branch.pus, level + 1);
      if (branch.text.empty()) {
        std::move(parts.begin(), parts.end(), std::back_inserter(branches));
      } else {
        branch.parts = std::move(parts);
        branches.push_back(std::move(branch));
      }
    }
    return branches;
  }

  std::vector<Branch> SplitBy(const Pus& pus, const std::function<uint32_t(const hy_pu&)>& key,
                              const std::function<std::string(uint32_t, const Pus&)>& text) const {
    std::vector<Branch> branches;
    std::map<uint32_t, size_t> known;
    for (const hy_pu* pu : pus) {
      const auto [place, added] = known.try_emplace(key(*pu), branches.size());
      if (added) branches.emplace_back();
      branches[place->second].pus.push_back(pu);
    }
    for (const auto& [value, place] : known) {
      if (value != HY_ID_NONE) branches[place].text = text(value, branches[place].pus);
    }
    return branches;
  }

  std::vector<Branch> SplitPackages(const Pus& pus) const {
    return SplitBy(
        pus, [](const hy_pu& pu) { return pu.package_id; },
        [](uint32_t id, const Pus&) { return absl::StrCat("package ", id); });
  }

  std::vector<Branch> SplitNodes(const Pus& pus) const {
    return SplitBy(
        pus, [](const hy_pu& pu) { return pu.node_id; },
        [this](uint32_t id, const Pus&) { return NodeText(id); });
  }

  std::vector<Branch> SplitCaches(const Pus& pus) const {
    std::vector<Branch> branches = SplitBy(
        pus,
        [this](const hy_pu& pu) {
          return SharedLastCache(topology_, pu) != nullptr ? pu.llc_id : HY_ID_NONE;
        },
        [this](uint32_t, const Pus& part) { return CacheText(part); });
    for (Branch& branch : branches) branch.joins_only_part = true;
    return Fold(std::move(branches), kFoldCaches, [this](const Branch& branch) {
      return absl::StrCat("x ", CacheName(*SharedLastCache(topology_, *branch.pus[0])), " for ",
                          FormatCount(CountCores(branch.pus), "core"));
    });
  }

  std::vector<Branch> SplitClusters(const Pus& pus) const {
    std::vector<Branch> branches = SplitBy(
        pus, [&](const hy_pu& pu) { return ClusterMatters(pu, pus) ? pu.cluster_id : HY_ID_NONE; },
        [](uint32_t id, const Pus&) { return absl::StrCat("cluster ", id); });
    for (Branch& branch : branches) branch.joins_only_part = true;
    return Fold(std::move(branches), kFoldClusters, [](const Branch& branch) {
      return absl::StrCat("clusters of ", FormatCount(CountCores(branch.pus), "core"));
    });
  }

  std::vector<Branch> SplitClasses(const Pus& pus) const {
    return SplitBy(
        // Units without a class, too, must be drawn.
        pus, [](const hy_pu& pu) { return std::min(pu.perf_class, HY_ID_NONE - 1); },
        [this](uint32_t id, const Pus& part) {
          return absl::StrCat(CoresText(part), many_classes_ ? absl::StrCat(", class ", id) : "");
        });
  }

  // One line for `least` or more parts that differ by their ids only.
  std::vector<Branch> Fold(std::vector<Branch> branches, size_t least,
                           const std::function<std::string(const Branch&)>& name) const {
    std::set<std::string> shapes;
    for (const Branch& branch : branches) {
      shapes.insert(branch.text.empty()
                        ? ""
                        : absl::StrCat(name(branch), SmtName(branch.pus), " ",
                                       absl::StrJoin(Values(branch.pus, &hy_pu::perf_class), ",")));
    }
    const bool like = shapes.size() == 1 && *shapes.begin() != "" &&
                      Values(branches[0].pus, &hy_pu::perf_class).size() == 1;
    if (branches.size() < least || !like) return branches;
    Branch folded;
    folded.text = absl::StrCat(branches.size(), " ", name(branches[0]));
    folded.joins_only_part = true;
    for (const Branch& branch : branches) {
      folded.pus.insert(folded.pus.end(), branch.pus.begin(), branch.pus.end());
    }
    return {folded};
  }

  // A cluster of one core, or of all that the line above it holds, says nothing.
  bool ClusterMatters(const hy_pu& pu, const Pus& around) const {
    if (pu.cluster_id == HY_ID_NONE) return false;
    const Pus& members = by_cluster_.at({pu.package_id, pu.cluster_id});
    return CountCores(members) > 1 && members.size() < around.size();
  }

  // "cores 0-3 (SMT2: 0-3,80-83)"
  static std::string CoresText(const Pus& pus) {
    const std::string units = FormatCpuList(Values(pus, &hy_pu::os_id));
    const std::vector<uint32_t> cores = Values(pus, &hy_pu::core_id);
    if (cores.back() == HY_ID_NONE) {
      return absl::StrCat(pus.size() == 1 ? "unit " : "units ", units);
    }
    const std::string smt = SmtName(pus);
    const std::string noun = pus.size() == 1 ? "unit " : "units ";
    return absl::StrCat(cores.size() == 1 ? "core " : "cores ", FormatCpuList(cores), " (",
                        smt.empty() ? noun : smt + ": ", units, ")");
  }

  // A cache may reach beyond the node or package that it is drawn in.
  std::string CacheText(const Pus& part) const {
    std::string text = CacheName(*SharedLastCache(topology_, *part[0]));
    const Pus& sharers = by_cache_.at(part[0]->llc_id);
    for (const auto& [field, noun] :
         {std::pair{&hy_pu::node_id, "nodes "}, std::pair{&hy_pu::package_id, "packages "}}) {
      const std::vector<uint32_t> ids = Values(sharers, field);
      if (ids.size() > 1) absl::StrAppend(&text, " shared by ", noun, FormatCpuList(ids));
    }
    return text;
  }

  std::string NodeText(uint32_t id) const {
    const hy_node* node = topology_.FindNode(id);
    if (node == nullptr) return absl::StrCat("node ", id);
    std::string text = absl::StrCat("node ", id, ": ");
    constexpr const char* kKinds[] = {"", " DRAM", " HBM", " CXL", " device memory"};
    if ((node->flags & HY_NODE_HAS_MEMORY) == 0) {
      absl::StrAppend(&text, "no memory");
    } else {
      absl::StrAppend(&text, FormatBytes(node->bytes_total),
                      node->kind < 5 ? kKinds[node->kind] : "", ", ", FormatBytes(node->bytes_free),
                      " free");
    }
    if (node->read_mb_per_s != 0) {
      absl::StrAppend(&text, ", reads ", node->read_mb_per_s, " MB/s in ", node->read_latency_ns,
                      " ns");
    }
    for (const hy_page_pool& pool : topology_.page_pools) {
      if (pool.node_id != id || pool.total == 0) continue;
      absl::StrAppend(&text, ", ", pool.free, " of ", FormatCount(pool.total, "page"), " of ",
                      FormatBytes(pool.page_bytes), " free");
    }
    const bool allowed = (node->flags & HY_NODE_ALLOWED) != 0;
    const bool usable = (node->flags & HY_NODE_HAS_MEMORY) != 0;
    return absl::StrCat(text, allowed || !usable ? "" : ", not allowed");
  }

  void AddNodesWithoutUnits(std::vector<Branch>* tree) const {
    std::vector<uint32_t> empty;
    for (const hy_node& node : topology_.nodes) {
      const bool drawn = std::any_of(all_.begin(), all_.end(),
                                     [&](const hy_pu* pu) { return pu->node_id == node.os_id; });
      if (drawn) continue;
      const bool has_cpus = (node.flags & HY_NODE_HAS_CPUS) != 0;
      if (!has_cpus && (node.flags & HY_NODE_HAS_MEMORY) == 0) {
        empty.push_back(node.os_id);
        continue;
      }
      Branch branch;
      branch.text = absl::StrCat(NodeText(node.os_id),
                                 has_cpus ? ", its units are not listed" : ", no units");
      tree->push_back(std::move(branch));
    }
    if (empty.empty()) return;
    Branch branch;
    branch.text = absl::StrCat(empty.size() == 1 ? "node " : "nodes ", FormatCpuList(empty),
                               ": neither memory nor units");
    tree->push_back(std::move(branch));
  }

  const Topology& topology_;
  Pus all_;
  std::map<uint32_t, Pus> by_cache_;
  std::map<std::pair<uint32_t, uint32_t>, Pus> by_cluster_;
  bool many_classes_ = false;
  std::vector<Splitter> levels_;
};

void Render(const std::vector<Branch>& branches, size_t depth, std::string* out) {
  for (const Branch& branch : branches) {
    absl::StrAppend(out, std::string(depth * 2, ' '), branch.text);
    const Branch* last = &branch;
    while (last->joins_only_part && last->parts.size() == 1) {
      last = &last->parts[0];
      absl::StrAppend(out, ": ", last->text);
    }
    out->push_back('\n');
    Render(last->parts, depth + 1, out);
  }
}

}  // namespace

uint32_t CountCores(const Pus& pus) {
  std::set<uint32_t> cores;
  uint32_t unknown = 0;
  for (const hy_pu* pu : pus) {
    if (pu->core_id == HY_ID_NONE) {
      ++unknown;
    } else {
      cores.insert(pu->core_id);
    }
  }
  return static_cast<uint32_t>(cores.size()) + unknown;
}

std::string DrawTree(const Topology& topology) {
  std::string text;
  Render(TreeBuilder(topology).Build(), 0, &text);
  return text;
}

}  // namespace halyard::hal
