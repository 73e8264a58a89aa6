// SPDX-License-Identifier: Apache-2.0
#include "conformance/crumbs.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace halyard::conformance {
namespace {

constexpr uint32_t kSlots = 64;

struct Crumbs {
  std::atomic<uint32_t> next_slot;
  std::atomic<uint32_t> verb[kSlots];  // 0: in none
  // Ended by NUL, and read when the writer is dead.
  char step[192];
  char memory_fault[192];
};

Crumbs* g_crumbs = nullptr;
const hy_hal_api* g_base = nullptr;       // whose verbs are called
const hy_hal_api* g_base_self = nullptr;  // what they are given as self

enum VerbNumber : uint32_t {
  kNone,
  kEnumerate,
  kOpen,
  kQuery,
  kTopology,
  kAlloc,
  kImportHost,
  kMap,
  kUnmap,
  kSyncRange,
  kTeamCreate,
  kTeamRun,
  kTeamReadback,
  kWorkerBind,
  kQueueCreate,
  kSubmit,
  kFenceCreate,
  kFenceWait,
  kFenceSignal,
  kTimestamp,
  kRelease,
  kVerbCount
};
constexpr const char* kVerbNames[kVerbCount] = {
    "none",          "enumerate",   "open",         "query",      "topology",     "alloc",
    "import_host",   "map",         "unmap",        "sync_range", "team_create",  "team_run",
    "team_readback", "worker_bind", "queue_create", "submit",     "fence_create", "fence_wait",
    "fence_signal",  "timestamp",   "release"};

std::atomic<uint32_t>& OwnSlot() {
  static thread_local const uint32_t slot = g_crumbs->next_slot.fetch_add(1) % kSlots;
  return g_crumbs->verb[slot];
}

// One function for each verb, made from the type of its slot.
template <auto Slot, uint32_t Number, typename Function>
struct Noted;

template <auto Slot, uint32_t Number, typename... Args>
struct Noted<Slot, Number, hy_status (*)(Args...)> {
  static hy_status Call(Args... args) {
    std::atomic<uint32_t>& slot = OwnSlot();
    const uint32_t outer = slot.exchange(Number);
    const hy_status status = (g_base->*Slot)(args...);
    slot.store(outer);
    return status;
  }
};

template <auto Slot, uint32_t Number, typename Function>
void Note(hy_hal_api* table, Function hy_hal_api::*) {
  if (g_base->*Slot != nullptr) table->*Slot = &Noted<Slot, Number, Function>::Call;
}

hy_status NotedEnumerate(const hy_hal_api*, hy_array* devices) {
  std::atomic<uint32_t>& slot = OwnSlot();
  slot.store(kEnumerate);
  const hy_status status = g_base->enumerate(g_base_self, devices);
  slot.store(kNone);
  return status;
}

hy_status NotedOpen(const hy_hal_api*, const hy_open_desc* desc, hy_device** out_device) {
  std::atomic<uint32_t>& slot = OwnSlot();
  slot.store(kOpen);
  const hy_status status = g_base->open(g_base_self, desc, out_device);
  slot.store(kNone);
  return status;
}

#define HY_NOTE(verb, number) Note<&hy_hal_api::verb, number>(&table, &hy_hal_api::verb)

hy_hal_api NotedTable() {
  hy_hal_api table = *g_base;
  table.enumerate = &NotedEnumerate;
  table.open = &NotedOpen;
  HY_NOTE(query, kQuery);
  HY_NOTE(topology, kTopology);
  HY_NOTE(alloc, kAlloc);
  HY_NOTE(import_host, kImportHost);
  HY_NOTE(map, kMap);
  HY_NOTE(unmap, kUnmap);
  HY_NOTE(sync_range, kSyncRange);
  HY_NOTE(team_create, kTeamCreate);
  HY_NOTE(team_run, kTeamRun);
  HY_NOTE(team_readback, kTeamReadback);
  HY_NOTE(worker_bind, kWorkerBind);
  HY_NOTE(queue_create, kQueueCreate);
  HY_NOTE(submit, kSubmit);
  HY_NOTE(fence_create, kFenceCreate);
  HY_NOTE(fence_wait, kFenceWait);
  HY_NOTE(fence_signal, kFenceSignal);
  HY_NOTE(timestamp, kTimestamp);
  HY_NOTE(release, kRelease);
  return table;
}

class CrumbPort : public hal::Port {
 public:
  explicit CrumbPort(std::shared_ptr<hal::Port> base) : base_(std::move(base)) {
    g_base = &base_->api();
    g_base_self = base_->self();
    table_ = NotedTable();
  }
  const hy_hal_api& api() const override { return table_; }
  const hy_hal_api* self() const override { return &table_; }
  std::string name() const override { return base_->name(); }
  std::string origin() const override { return base_->origin(); }

 private:
  std::shared_ptr<hal::Port> base_;
  hy_hal_api table_;
};

}  // namespace

void PrepareCrumbs() {
  if (g_crumbs == nullptr) {
    void* const shared =
        mmap(nullptr, sizeof(Crumbs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    // Without shared memory the notes stay in the child, and the parent knows no verb.
    static Crumbs unshared;
    g_crumbs = shared == MAP_FAILED ? &unshared : static_cast<Crumbs*>(shared);
  }
  for (std::atomic<uint32_t>& verb : g_crumbs->verb) verb.store(kNone);
  g_crumbs->step[0] = '\0';
  g_crumbs->memory_fault[0] = '\0';
}

void SeparateCrumbs() {
  g_crumbs = nullptr;
  PrepareCrumbs();
}

void NoteStep(absl::string_view step) {
  if (g_crumbs == nullptr) return;
  const size_t length = std::min(step.size(), sizeof g_crumbs->step - 1);
  std::memcpy(g_crumbs->step, step.data(), length);
  g_crumbs->step[length] = '\0';
}

void NoteMemoryFault(const char* what) {
  if (g_crumbs == nullptr) return;
  size_t i = 0;
  for (; i + 1 < sizeof g_crumbs->memory_fault && what[i] != '\0'; ++i) {
    g_crumbs->memory_fault[i] = what[i];
  }
  g_crumbs->memory_fault[i] = '\0';
}

std::string StepInFlight() { return g_crumbs == nullptr ? "" : g_crumbs->step; }
std::string MemoryFault() { return g_crumbs == nullptr ? "" : g_crumbs->memory_fault; }

std::string CallsInFlight() {
  std::string calls;
  for (const std::atomic<uint32_t>& verb : g_crumbs->verb) {
    const uint32_t number = verb.load();
    if (number == kNone || number >= kVerbCount) continue;
    absl::StrAppend(&calls, calls.empty() ? "" : ", ", kVerbNames[number]);
  }
  return calls;
}

std::shared_ptr<hal::Port> WithCrumbs(std::shared_ptr<hal::Port> port) {
  return std::make_shared<CrumbPort>(std::move(port));
}

}  // namespace halyard::conformance
