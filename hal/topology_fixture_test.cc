// SPDX-License-Identifier: Apache-2.0
//
// Every fixture of ports/sim_topology/fixtures against its own @expect facts, which were written by
// hand, and are checked once more by tools/check_fixtures.py: the reader has no part in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hal/system_view.h"
#include "hal/topology.h"

namespace halyard::hal {
namespace {

using Facts = std::map<std::string, std::string>;

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> FixtureNames() {
  std::vector<std::string> names;
  const std::filesystem::path folder =
      std::filesystem::path(HALYARD_TEST_SOURCE_DIR) / "ports/sim_topology/fixtures";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".topo") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string FixtureText(const std::string& name) {
  return ReadText(std::filesystem::path(HALYARD_TEST_SOURCE_DIR) / "ports/sim_topology/fixtures" /
                  (name + ".topo"));
}

template <typename Records, typename Field>
size_t CountDistinct(const Records& records, Field field) {
  std::set<uint32_t> values;
  for (const auto& record : records) {
    if (field(record) != HY_ID_NONE) values.insert(field(record));
  }
  return values.size();
}

size_t CountNodes(const Topology& topology, uint64_t flag) {
  return static_cast<size_t>(
      std::count_if(topology.nodes.begin(), topology.nodes.end(),
                    [flag](const hy_node& node) { return (node.flags & flag) != 0; }));
}

std::string HugeSizes(const Topology& topology) {
  std::vector<uint64_t> sizes;
  for (const hy_page_pool& pool : topology.page_pools) {
    if (pool.node_id == HY_ID_NONE) sizes.push_back(pool.page_bytes);
  }
  return sizes.empty() ? "none" : absl::StrJoin(sizes, ",");
}

uint32_t SmtLevel(const Topology& topology) {
  uint32_t most = 0;
  for (const hy_pu& pu : topology.pus) most = std::max(most, pu.smt_index + 1);
  return most;
}

Facts FactsOf(const SystemView& view) {
  const Topology all = ReadTopology(view, true);
  const Topology allowed = ReadTopology(view, false);
  Facts facts;
  facts["pus"] = absl::StrCat(allowed.pus.size());
  facts["pus_all"] = absl::StrCat(all.pus.size());
  facts["cores"] = absl::StrCat(CountDistinct(all.pus, [](auto& pu) { return pu.core_id; }));
  facts["packages"] = absl::StrCat(CountDistinct(all.pus, [](auto& pu) { return pu.package_id; }));
  facts["clusters"] = absl::StrCat(CountDistinct(all.pus, [](auto& pu) { return pu.cluster_id; }));
  facts["llcs"] = absl::StrCat(CountDistinct(all.pus, [](auto& pu) { return pu.llc_id; }));
  facts["classes"] = absl::StrCat(CountDistinct(all.pus, [](auto& pu) { return pu.perf_class; }));
  facts["smt"] = absl::StrCat(SmtLevel(all));
  facts["nodes"] = absl::StrCat(all.nodes.size());
  facts["nodes_cpu"] = absl::StrCat(CountNodes(all, HY_NODE_HAS_CPUS));
  facts["nodes_mem"] = absl::StrCat(CountNodes(all, HY_NODE_HAS_MEMORY));
  facts["budget_milli"] = absl::StrCat(allowed.budget_millicpus);
  facts["page_bytes"] = absl::StrCat(view.page_bytes());
  facts["huge"] = HugeSizes(all);
  facts["source"] = all.source == HY_SOURCE_FIXTURE  ? "sysfs"
                    : all.source == HY_SOURCE_PROCFS ? "procfs"
                                                     : "unknown";
  return facts;
}

class FixtureTest : public testing::TestWithParam<std::string> {};

TEST_P(FixtureTest, HasTheFactsItExpects) {
  const std::string text = FixtureText(GetParam());
  const auto view = ParseSystemImage(text);
  ASSERT_TRUE(view.ok()) << view.status();
  const auto expected = ImageFacts(text);
  ASSERT_TRUE(expected.ok()) << expected.status();
  Facts facts = FactsOf(**view);
  EXPECT_GE(expected->size(), 6u);
  for (const auto& [key, value] : *expected) {
    if (key == "machine") continue;
    ASSERT_EQ(facts.count(key), 1u) << "no such fact: " << key;
    EXPECT_EQ(facts[key], value) << key;
  }
}

TEST_P(FixtureTest, IsDrawnAsExpected) {
  const auto view = ParseSystemImage(FixtureText(GetParam()));
  ASSERT_TRUE(view.ok()) << view.status();
  const std::string drawn = DrawTopology(ReadTopology(**view, true));
  const std::filesystem::path golden = std::filesystem::path(HALYARD_TEST_SOURCE_DIR) /
                                       "hal/testdata/topology" / (GetParam() + ".txt");
  if (std::getenv("HALYARD_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << drawn;
  EXPECT_EQ(drawn, ReadText(golden))
      << "If the new text is right, run this test with HALYARD_UPDATE_GOLDEN=1.";
  for (char c : drawn) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << "not ASCII";
}

// Within one answer, whatever is named exists, with and without the units that may not be used.
TEST_P(FixtureTest, AgreesWithItself) {
  const auto view = ParseSystemImage(FixtureText(GetParam()));
  ASSERT_TRUE(view.ok()) << view.status();
  for (bool all : {false, true}) {
    const Topology topology = ReadTopology(**view, all);
    ASSERT_FALSE(topology.pus.empty());
    std::map<uint32_t, uint32_t> capacity_of_class;
    std::map<uint32_t, uint32_t> units_of_llc;
    uint32_t previous = 0;
    for (const hy_pu& pu : topology.pus) {
      EXPECT_EQ(topology.FindPu(pu.os_id), &pu);
      EXPECT_TRUE(&pu == &topology.pus[0] || pu.os_id > previous);
      previous = pu.os_id;
      EXPECT_TRUE(pu.node_id == HY_ID_NONE || topology.FindNode(pu.node_id) != nullptr);
      EXPECT_TRUE(all || (pu.flags & HY_PU_ALLOWED) != 0);
      EXPECT_GE(pu.capacity, 1u);
      EXPECT_LE(pu.capacity, 1024u);
      EXPECT_EQ(capacity_of_class.emplace(pu.perf_class, pu.capacity).first->second, pu.capacity);
      if (pu.llc_id != HY_ID_NONE) ++units_of_llc[pu.llc_id];
    }
    EXPECT_TRUE(!all || capacity_of_class.begin()->first == 0);
    for (const auto& [llc, units] : units_of_llc) {
      EXPECT_TRUE(std::any_of(topology.caches.begin(), topology.caches.end(),
                              [id = llc, count = units](const hy_cache& cache) {
                                return cache.first_pu == id && cache.pu_count == count;
                              }))
          << llc;
    }
    for (const hy_cache& cache : topology.caches) {
      EXPECT_NE(topology.FindPu(cache.first_pu), nullptr);
      EXPECT_LE(cache.pu_count, topology.pus.size());
    }
    for (const hy_distance& each : topology.distances) {
      EXPECT_NE(topology.FindNode(each.from_node), nullptr);
      EXPECT_NE(topology.FindNode(each.to_node), nullptr);
      EXPECT_GE(each.value, 10u);
      EXPECT_TRUE(each.from_node != each.to_node || each.value == 10);
    }
    EXPECT_GE(topology.budget_millicpus, 1u);
    EXPECT_GE(topology.budget_workers(), 1u);
  }
}

TEST_P(FixtureTest, IsCapturedWithoutLoss) {
  const auto view = ParseSystemImage(FixtureText(GetParam()));
  ASSERT_TRUE(view.ok()) << view.status();
  const auto copy = ParseSystemImage(CaptureSystemImage(**view, "a copy"));
  ASSERT_TRUE(copy.ok()) << copy.status();
  for (bool all : {false, true}) {
    EXPECT_EQ(DrawTopology(ReadTopology(**copy, all)), DrawTopology(ReadTopology(**view, all)));
  }
  EXPECT_EQ(FactsOf(**copy), FactsOf(**view));
  EXPECT_EQ((*copy)->arch(), (*view)->arch());
}

// A damaged image is refused or read as some machine, and never more than that.
TEST_P(FixtureTest, SurvivesDamage) {
  const std::string text = FixtureText(GetParam());
  std::minstd_rand random(20240229);
  auto below = [&random](size_t limit) { return static_cast<size_t>(random()) % limit; };
  constexpr char kSpice[] = "{}-,0=@<9 \n/x";
  for (int round = 0; round < 8; ++round) {
    std::string damaged = text;
    for (size_t i = 0; i <= below(12); ++i) {
      damaged[below(damaged.size())] = kSpice[below(sizeof kSpice - 1)];
    }
    damaged.erase(below(damaged.size()), below(200));
    const auto view = ParseSystemImage(damaged);
    if (!view.ok()) {
      EXPECT_EQ(view.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    EXPECT_FALSE(DrawTopology(ReadTopology(**view, true)).empty());
    EXPECT_GE(ReadTopology(**view, false).budget_millicpus, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, FixtureTest, testing::ValuesIn(FixtureNames()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace halyard::hal
