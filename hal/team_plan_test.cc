// SPDX-License-Identifier: Apache-2.0
#include "hal/team_plan.h"

#include <vector>

#include "gtest/gtest.h"

namespace halyard::hal {
namespace {

using Ids = std::vector<uint32_t>;

hy_pu Unit(uint32_t os_id, uint32_t core_id, uint32_t perf_class, uint64_t flags = HY_PU_ALLOWED) {
  hy_pu pu = {};
  pu.struct_size = sizeof pu;
  pu.os_id = os_id;
  pu.core_id = core_id;
  pu.perf_class = perf_class;
  pu.isa[0] = perf_class == 0 ? 7 : 3;
  pu.flags = flags | HY_PU_ONLINE;
  return pu;
}

// Two big cores of two threads each, numbered as x86 does, and three little ones; ids have gaps,
// and one little core is not ours.
Topology Mixed() {
  Topology topology;
  topology.source = HY_SOURCE_SYSFS;
  topology.pus = {Unit(2, 0, 0),  Unit(3, 1, 0),  Unit(9, 0, 0),    Unit(10, 1, 0),
                  Unit(40, 7, 1), Unit(41, 8, 1), Unit(42, 9, 1, 0)};
  topology.budget_millicpus = 6'000;
  return topology;
}

Ids Plan(const Topology& topology, const TeamRequest& request) {
  const absl::StatusOr<Ids> plan = PlanTeam(topology, request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : Ids{};
}

absl::StatusCode Failure(const Topology& topology, const TeamRequest& request) {
  return PlanTeam(topology, request).status().code();
}

TEST(PlanTeam, TakesOneUnitACoreFastestFirst) { EXPECT_EQ(Plan(Mixed(), {}), (Ids{2, 3, 40, 41})); }

TEST(PlanTeam, TakesSecondThreadsOnlyAfterAllCores) {
  TeamRequest request;
  request.count = 6;
  EXPECT_EQ(Plan(Mixed(), request), (Ids{2, 3, 40, 41, 9, 10}));
}

TEST(PlanTeam, StaysWithinTheBudget) {
  Topology topology = Mixed();
  topology.budget_millicpus = 2'900;
  EXPECT_EQ(Plan(topology, {}), (Ids{2, 3}));
  topology.budget_millicpus = 500;
  EXPECT_EQ(Plan(topology, {}), (Ids{2}));
  TeamRequest request;
  request.count = 2;
  EXPECT_EQ(Failure(topology, request), absl::StatusCode::kOutOfRange);
  request.allow_oversubscription = true;
  EXPECT_EQ(Plan(topology, request), (Ids{2, 3}));
}

TEST(PlanTeam, OversubscribedUnitsAreReusedInTurn) {
  TeamRequest request;
  request.count = 8;
  request.allow_oversubscription = true;
  EXPECT_EQ(Plan(Mixed(), request), (Ids{2, 3, 40, 41, 9, 10, 2, 3}));
}

TEST(PlanTeam, KeepsToAClass) {
  TeamRequest request;
  request.perf_class = 1;
  EXPECT_EQ(Plan(Mixed(), request), (Ids{40, 41}));
  request.count = 3;
  EXPECT_EQ(Failure(Mixed(), request), absl::StatusCode::kOutOfRange);
  request.count = 0;
  request.perf_class = 2;
  EXPECT_EQ(Failure(Mixed(), request), absl::StatusCode::kNotFound);
}

TEST(PlanTeam, TakesAListAsItIs) {
  TeamRequest request;
  request.pus = {41, 2};
  EXPECT_EQ(Plan(Mixed(), request), (Ids{41, 2}));
  request.count = 5;
  EXPECT_EQ(Plan(Mixed(), request), (Ids{41, 2, 41, 2, 41}));
  request.perf_class = 0;  // said of teams without a list
  request.count = 1;
  EXPECT_EQ(Plan(Mixed(), request), (Ids{41}));
}

TEST(PlanTeam, RefusesListedUnitsThatAreNotThereOrNotAllowed) {
  TeamRequest request;
  request.pus = {2, 77};
  EXPECT_EQ(Failure(Mixed(), request), absl::StatusCode::kNotFound);
  request.pus = {42};
  EXPECT_EQ(Failure(Mixed(), request), absl::StatusCode::kNotFound);
}

TEST(PlanTeam, RefusesAListBeyondTheBudget) {
  Topology topology = Mixed();
  topology.budget_millicpus = 1'000;
  TeamRequest request;
  request.pus = {2, 3};
  EXPECT_EQ(Failure(topology, request), absl::StatusCode::kOutOfRange);
}

TEST(PlanTeam, AWildCountIsAnErrorNotAnAttempt) {
  TeamRequest request;
  request.count = UINT32_MAX;
  request.allow_oversubscription = true;
  EXPECT_EQ(Failure(Mixed(), request), absl::StatusCode::kResourceExhausted);
}

TEST(PlanTeam, AMachineWithoutAllowedUnitsIsNotFound) {
  EXPECT_EQ(Failure(Topology{}, {}), absl::StatusCode::kNotFound);
}

TEST(UsableMillicpus, CountsAUnitOnce) {
  EXPECT_EQ(UsableMillicpus(Mixed(), Ids{2, 2, 2}), 1'000u);
  EXPECT_EQ(UsableMillicpus(Mixed(), Ids{2, 3}), 2'000u);
  Topology topology = Mixed();
  topology.budget_millicpus = 500;
  EXPECT_EQ(UsableMillicpus(topology, Ids{2, 3}), 500u);
}

TEST(WorkerIsa, IsWhatAllUnitsOfTheMaskShare) {
  WorkerReport report;
  report.flags = HY_WORKER_MASK_KNOWN;
  report.mask = {2};
  EXPECT_EQ(WorkerIsa(Mixed(), report), (IsaMask{7, 0}));
  report.mask = {2, 40};
  EXPECT_EQ(WorkerIsa(Mixed(), report), (IsaMask{3, 0}));
}

TEST(WorkerIsa, IsTheLiveOneWhereTheUnitsAreNotKnown) {
  WorkerReport report;
  report.mask = {2};
  EXPECT_EQ(WorkerIsa(Mixed(), report), LiveIsa()) << "mask not known";
  report.flags = HY_WORKER_MASK_KNOWN;
  report.mask = {2, 1'000};
  EXPECT_EQ(WorkerIsa(Mixed(), report), LiveIsa()) << "a unit that is not listed";
  Topology foreign = Mixed();
  foreign.source = HY_SOURCE_FIXTURE;
  report.mask = {2};
  EXPECT_EQ(WorkerIsa(foreign, report), LiveIsa()) << "another machine's topology";
}

}  // namespace
}  // namespace halyard::hal
