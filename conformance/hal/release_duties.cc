// SPDX-License-Identifier: Apache-2.0
//
// HAL-REL: the end of objects.
#include <algorithm>

#include "base/monotonic_clock.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

struct Object {
  uint32_t kind;
  void* handle;
};

// One object of each kind that the port makes itself.
std::vector<Object> MakeObjects(HalContext& context) {
  const hy_hal_api& api = context.api();
  std::vector<Object> objects;
  for (int i = 0; i < 3; ++i) {
    const hy_alloc_desc desc = RawAlloc(1000);
    hy_buffer* buffer = nullptr;
    HY_EXPECT_STATUS(api.alloc(context.raw_device(), &desc, &buffer, nullptr), HY_OK);
    objects.push_back({HY_KIND_BUFFER, buffer});
  }
  if (api.team_create != nullptr) {
    hy_team_desc desc = Sized<hy_team_desc>();
    desc.count = 1;
    desc.perf_class = HY_ID_NONE;
    hy_team* team = nullptr;
    HY_EXPECT_STATUS(api.team_create(context.raw_device(), &desc, &team), HY_OK);
    objects.push_back({HY_KIND_TEAM, team});
  }
  if (api.queue_create != nullptr) {
    const hy_queue_desc desc = Sized<hy_queue_desc>();
    hy_queue* queue = nullptr;
    HY_EXPECT_STATUS(api.queue_create(context.raw_device(), &desc, &queue), HY_OK);
    objects.push_back({HY_KIND_QUEUE, queue});
  }
  if (api.fence_create != nullptr) {
    hy_fence* fence = nullptr;
    HY_EXPECT_STATUS(api.fence_create(context.raw_device(), 0, &fence), HY_OK);
    objects.push_back({HY_KIND_FENCE, fence});
  }
  return objects;
}

// Waits until threads and descriptors that end a little later are gone.
os::Holdings Settled(HalContext& context, const os::Holdings& goal) {
  const uint64_t deadline = DeadlineIn(context, 1);
  os::Holdings now = os::CurrentHoldings();
  while (MonotonicNs() < deadline &&
         (now.threads > goal.threads || now.descriptors > goal.descriptors)) {
    timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
    now = os::CurrentHoldings();
  }
  return now;
}

}  // namespace

HY_DUTY("HAL-REL-01", NullOfAnyKindIsFine, .in_validate = false) {
  for (uint32_t kind = HY_KIND_DEVICE; kind < HY_KIND_COUNT; ++kind) {
    HY_EXPECT_STATUS(context.api().release(kind, nullptr), HY_OK);
  }
  const RawBuffer buffer(context, 100);
  for (const uint32_t kind : {0u, static_cast<uint32_t>(HY_KIND_COUNT), 77u, UINT32_MAX}) {
    HY_EXPECT_STATUS(context.api().release(kind, buffer.get()), HY_INVALID_ARGUMENT);
  }
  // The refused releases have not freed it: its own release is checked when the scope ends.
  uint64_t bytes = 0;
  hy_query_desc desc = Sized<hy_query_desc>();
  desc.kind = HY_KIND_BUFFER;
  desc.handle = buffer.get();
  desc.key = HY_QUERY_PLACEMENT;
  HY_EXPECT_REFUSED(context.api().query(&desc, nullptr, &bytes), HY_OK, HY_UNIMPLEMENTED);
}

HY_DUTY("HAL-REL-02", ObjectsGoInAnyOrder) {
  Random random(context.seed());
  for (int round = 0; round < 10; ++round) {
    std::vector<Object> objects = MakeObjects(context);
    while (!objects.empty()) {
      const size_t chosen = static_cast<size_t>(random.Below(objects.size()));
      HY_EXPECT_STATUS(context.api().release(objects[chosen].kind, objects[chosen].handle), HY_OK);
      objects.erase(objects.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }
}

HY_DUTY("HAL-REL-02", HandlesOfTheCoreGoInAnyOrder) {
  // The device handle first: its children keep what they need.
  for (int order = 0; order < 2; ++order) {
    std::optional<hal::Buffer> buffer;
    std::optional<hal::Queue> queue;
    std::optional<hal::Fence> fence;
    HY_ASSERT_OK_AND_ASSIGN(hal::Buffer new_buffer, NewBuffer(context, 5000));
    buffer.emplace(std::move(new_buffer));
    HY_ASSERT_OK_AND_ASSIGN(hal::Queue new_queue, context.device().CreateQueue());
    queue.emplace(std::move(new_queue));
    HY_ASSERT_OK_AND_ASSIGN(hal::Fence new_fence, context.device().CreateFence());
    fence.emplace(std::move(new_fence));
    hal::Submission work;
    work.Fill(*buffer, 0, 5000, 1, 1).Signal(*fence, 1);
    HY_ASSERT_OK(queue->Submit(std::move(work)));
    if (order == 0) {
      buffer.reset();
      queue.reset();
      HY_EXPECT_OK(fence->Wait(1, DeadlineIn(context, 5)));
      fence.reset();
    } else {
      context.CloseDevice();
      fence.reset();
      queue.reset();
      Bytes some(100);
      HY_EXPECT_OK(buffer->Read(0, absl::MakeSpan(some)));
      buffer.reset();
    }
  }
}

HY_DUTY("HAL-REL-03", NothingIsLeftBehind, .deadline_s = 60, .alone = true) {
  // Allocators and caches fill up over some rounds and then stay; a leak grows in every window.
  constexpr uint64_t kRounds = 25, kWindows = 10;
  HY_ASSERT_OK(UseEverything(context, context.device()));
  const os::Holdings first = Settled(context, os::CurrentHoldings());
  os::Holdings last = first;
  bool grows = true;
  uint64_t window = 0;
  const uint64_t deadline = MonotonicNs() + 6'000'000'000u;
  for (; window < kWindows && grows && MonotonicNs() < deadline; ++window) {
    for (uint64_t i = 0; i < kRounds; ++i) HY_ASSERT_OK(UseEverything(context, context.device()));
    const os::Holdings now = Settled(context, first);
    grows = now.heap_bytes > last.heap_bytes + kRounds * 16;
    last = now;
  }
  EXPECT_LE(last.descriptors, first.descriptors) << "descriptors";
  EXPECT_LE(last.threads, first.threads) << "threads";
  EXPECT_LT(last.mappings, first.mappings + kRounds) << "mappings";
  EXPECT_LE(last.service_allocations, first.service_allocations) << "memory of the host's services";
  // On a slow machine the caches may not be full yet when the time is over.
  context.Fact("heap", grows ? "still growing" : "settled");
  if (window == kWindows) {
    EXPECT_FALSE(grows) << "memory of the C library grows with the work";
  }
}

DutyTable ReleaseDuties() {
  static constexpr DutyTest kTests[] = {NullOfAnyKindIsFine, ObjectsGoInAnyOrder,
                                        HandlesOfTheCoreGoInAnyOrder, NothingIsLeftBehind};
  return kTests;
}

}  // namespace halyard::conformance
