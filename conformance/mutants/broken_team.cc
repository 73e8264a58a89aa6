// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/broken_team.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/mutants/mutants.h"
#include "halyard/hal_port.h"

// The opaque team of these mutants.
struct hy_team {
  std::vector<uint32_t> units;  // asked for, by worker
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable changed;
  hy_worker_fn fn = nullptr;
  void* context = nullptr;
  uint64_t run = 0;
  uint32_t left = 0;
  bool ends = false;
};

namespace halyard::conformance::mutants {
namespace {

TeamFault g_fault = TeamFault::kNone;
thread_local hy_team* t_inside = nullptr;

uint32_t Size(const hy_team& team) { return static_cast<uint32_t>(team.units.size()); }

void CallWorker(hy_team& team, uint32_t index) {
  hy_team* const outer = t_inside;
  t_inside = &team;
  const bool by_unit = g_fault == TeamFault::kIndexIsUnit && team.units[index] != HY_ID_NONE;
  const bool misses = g_fault == TeamFault::kSkipsOneRun && team.run % 37 == 0 &&
                      index + 1 == Size(team) && index != 0;
  if (!misses) team.fn(team.context, by_unit ? team.units[index] : index, Size(team));
  t_inside = outer;
}

void WorkerLoop(hy_team* team, uint32_t index) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(team->mutex);
  for (;;) {
    team->changed.wait(lock, [&] { return team->ends || team->run != seen; });
    if (team->ends) return;
    seen = team->run;
    lock.unlock();
    CallWorker(*team, index);
    lock.lock();
    if (--team->left == 0) team->changed.notify_all();
  }
}

uint64_t BudgetWorkers() {
  hy_topology topology{};
  topology.struct_size = sizeof topology;
  if (Services().topology_read(&topology) != HY_OK) return 1;
  const uint64_t whole = topology.budget_millicpus / 1000;
  return whole == 0 ? 1 : whole;
}

hy_status Create(hy_device* device, const hy_team_desc* desc, hy_team** out_team) {
  if (device == nullptr || out_team == nullptr) return HY_INVALID_ARGUMENT;
  *out_team = nullptr;
  hy_team_desc known;
  const hy_status read = hy_read_struct(&known, sizeof known, desc);
  if (read != HY_OK) return read;
  if ((known.flags & ~HY_TEAM_ALLOW_OVERSUB) != 0) return HY_INVALID_ARGUMENT;
  const uint64_t budget = BudgetWorkers();
  uint64_t count = known.count != 0 ? known.count : known.pus.count;
  if (count == 0) count = budget;
  const bool may_exceed =
      (known.flags & HY_TEAM_ALLOW_OVERSUB) != 0 || g_fault == TeamFault::kNoBudget;
  if ((count > budget && !may_exceed) || count > 1000) return HY_OUT_OF_RANGE;
  auto* const team = new hy_team;
  for (uint64_t i = 0; i < count; ++i) {
    team->units.push_back(known.pus.count == 0
                              ? HY_ID_NONE
                              : *static_cast<const uint32_t*>(hy_array_at(
                                    &known.pus, static_cast<uint32_t>(i % known.pus.count))));
  }
  if (g_fault != TeamFault::kArena && g_fault != TeamFault::kLazy) {
    for (uint32_t i = 0; i < Size(*team); ++i) team->threads.emplace_back(&WorkerLoop, team, i);
  }
  *out_team = team;
  return HY_OK;
}

// An arena: one helper and the caller take the workers in turn, as they are free.
void RunInArena(hy_team& team) {
  uint32_t next = 0;
  const auto take = [&] {
    for (;;) {
      uint32_t index = 0;
      {
        const std::lock_guard<std::mutex> lock(team.mutex);
        if (next == Size(team)) return;
        index = next++;
      }
      CallWorker(team, index);
    }
  };
  // A pool with one thread less than the team has workers: enough to pass most tests.
  std::vector<std::thread> helpers;
  for (uint32_t i = 2; i < Size(team); ++i) helpers.emplace_back(take);
  take();
  for (std::thread& helper : helpers) helper.join();
}

void RunLazily(hy_team& team) {
  for (uint32_t index = 0; index < Size(team); ++index) {
    std::thread([&team, index] { CallWorker(team, index); }).join();
  }
}

hy_status Run(hy_team* team, hy_worker_fn fn, void* context) {
  if (team == nullptr || fn == nullptr) return HY_INVALID_ARGUMENT;
  if (t_inside == team) {
    if (g_fault != TeamFault::kNestedRuns) return HY_FAILED_PRECONDITION;
    for (uint32_t index = 0; index < Size(*team); ++index) fn(context, index, Size(*team));
    return HY_OK;
  }
  std::unique_lock<std::mutex> lock(team->mutex);
  team->fn = fn;
  team->context = context;
  ++team->run;
  if (team->threads.empty()) {
    lock.unlock();
    if (g_fault == TeamFault::kArena) {
      RunInArena(*team);
    } else {
      RunLazily(*team);
    }
    return HY_OK;
  }
  team->left = Size(*team);
  team->changed.notify_all();
  team->changed.wait(lock, [&] { return team->left == 0; });
  return HY_OK;
}

hy_status Readback(hy_team* team, hy_array* inout_workers) {
  if (team == nullptr || inout_workers == nullptr) return HY_INVALID_ARGUMENT;
  inout_workers->count = Size(*team);
  if (inout_workers->data == nullptr) return HY_OK;
  for (uint32_t i = 0; i < Size(*team) && i < inout_workers->capacity; ++i) {
    auto* const report = static_cast<hy_worker_report*>(hy_array_at(inout_workers, i));
    report->index = i;
    report->requested_pu = team->units[i];
    report->last_pu = report->node_id = HY_ID_NONE;
    report->bind_status = HY_UNIMPLEMENTED;
    report->flags = 0;
    report->mask_words = 0;
    if (g_fault != TeamFault::kEchoReadback) continue;
    const uint32_t unit = team->units[i] == HY_ID_NONE ? i : team->units[i];
    report->requested_pu = report->last_pu = unit;
    report->bind_status = HY_OK;
    report->flags = HY_WORKER_BOUND | HY_WORKER_MASK_KNOWN | HY_WORKER_PU_KNOWN;
    report->mask_words = unit / 64 + 1;
    if (report->mask != nullptr && report->mask_capacity >= report->mask_words) {
      report->mask[unit / 64] |= UINT64_C(1) << (unit % 64);
    }
  }
  return inout_workers->count > inout_workers->capacity ? HY_OUT_OF_RANGE : HY_OK;
}

hy_status Release(uint32_t kind, void* handle) {
  if (kind != HY_KIND_TEAM || handle == nullptr) return Good().release(kind, handle);
  auto* const team = static_cast<hy_team*>(handle);
  {
    const std::lock_guard<std::mutex> lock(team->mutex);
    team->ends = true;
    team->changed.notify_all();
  }
  for (std::thread& thread : team->threads) thread.join();
  delete team;
  return HY_OK;
}

}  // namespace

void UseBrokenTeam(TeamFault fault, hy_hal_api* table) {
  g_fault = fault;
  table->team_create = &Create;
  table->team_run = &Run;
  table->team_readback = &Readback;
  table->release = &Release;
}

}  // namespace halyard::conformance::mutants
