// SPDX-License-Identifier: Apache-2.0
//
// Trap 7: timelines and queues.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/monotonic_clock.h"
#include "conformance/mutants/mutants.h"
#include "halyard/hal_port.h"

namespace halyard::conformance {
namespace {

using mutants::CopyOf;
using mutants::Good;

std::mutex g_mutex;

std::vector<hy_fence_point> PointsOf(const hy_array& array) {
  std::vector<hy_fence_point> points;
  for (uint32_t i = 0; i < array.count && array.data != nullptr; ++i) {
    points.push_back(*static_cast<const hy_fence_point*>(hy_array_at(&array, i)));
  }
  return points;
}

hy_array ArrayOfPoints(std::vector<hy_fence_point>& points) {
  const auto count = static_cast<uint32_t>(points.size());
  return {points.empty() ? nullptr : points.data(), count, count, sizeof(hy_fence_point), 0};
}

hy_status WaitFor(hy_device* device, std::vector<hy_fence_point> points, const hy_wait_desc& like) {
  hy_wait_desc wait = like;
  wait.struct_size = sizeof wait;
  wait.points = ArrayOfPoints(points);
  return Good().fence_wait(device, &wait);
}

// A wait holds only when the newest signal that was submitted has come.
std::map<hy_fence*, uint64_t>& Newest() {
  static auto* const newest = new std::map<hy_fence*, uint64_t>;
  return *newest;
}
hy_status SubmitNotesNewest(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  const hy_status status = Good().submit(device, queue, submission);
  if (status != HY_OK) return status;
  const std::lock_guard<std::mutex> lock(g_mutex);
  for (const hy_fence_point& point : PointsOf(CopyOf(submission).signals)) {
    uint64_t& newest = Newest()[point.fence];
    newest = std::max(newest, point.value);
  }
  return status;
}
hy_status WaitForNewest(hy_device* device, const hy_wait_desc* desc) {
  if (desc == nullptr) return HY_INVALID_ARGUMENT;
  const hy_wait_desc copy = CopyOf(desc);
  std::vector<hy_fence_point> points = PointsOf(copy.points);
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    for (hy_fence_point& point : points) {
      const auto newest = Newest().find(point.fence);
      if (newest != Newest().end()) point.value = std::max(point.value, newest->second);
    }
  }
  return WaitFor(device, std::move(points), copy);
}

// A value that was jumped over is never seen.
hy_status WaitOnlyForEqual(hy_device* device, const hy_wait_desc* desc) {
  hy_wait_desc copy = CopyOf(desc);
  if (desc == nullptr || copy.points.count != 1) return Good().fence_wait(device, desc);
  uint64_t value = 0;
  const uint64_t wanted = PointsOf(copy.points)[0].value;
  copy.struct_size = sizeof copy;
  copy.out_values = &value;
  const hy_status status = Good().fence_wait(device, &copy);
  if (status != HY_OK || value == wanted) return status;
  timespec pause{0, 50'000'000};
  if (copy.deadline_ns > MonotonicNs()) nanosleep(&pause, nullptr);
  return HY_DEADLINE_EXCEEDED;
}

// The signals are a step behind the others, which a failure skips like any step.
hy_status SignalPoints(void* context) {
  auto* const points = static_cast<std::vector<hy_fence_point>*>(context);
  for (const hy_fence_point& point : *points) {
    Good().fence_signal(point.fence, point.value, HY_OK);
  }
  delete points;
  return HY_OK;
}
hy_status SubmitSignalsByStep(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  hy_submission copy = CopyOf(submission);
  if (submission == nullptr || copy.signals.count == 0) {
    return Good().submit(device, queue, submission);
  }
  std::vector<hy_op> ops;
  for (uint32_t i = 0; i < copy.ops.count; ++i) {
    ops.push_back(*static_cast<const hy_op*>(hy_array_at(&copy.ops, i)));
  }
  hy_op signal{};
  signal.struct_size = sizeof signal;
  signal.kind = HY_OP_HOST_CALL;
  signal.call = &SignalPoints;
  signal.context = new std::vector<hy_fence_point>(PointsOf(copy.signals));
  ops.push_back(signal);
  const auto count = static_cast<uint32_t>(ops.size());
  copy.struct_size = sizeof copy;
  copy.ops = {ops.data(), count, count, sizeof(hy_op), 0};
  copy.signals = hy_array{};
  return Good().submit(device, queue, &copy);
}

// The signals come when the work begins.
hy_status SubmitSignalsEarly(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  hy_submission copy = CopyOf(submission);
  if (submission == nullptr || copy.signals.count == 0 || copy.ops.count == 0) {
    return Good().submit(device, queue, submission);
  }
  copy.struct_size = sizeof copy;
  hy_submission first = copy;
  first.ops = hy_array{};
  copy.signals = hy_array{};
  const hy_status status = Good().submit(device, queue, &first);
  return status != HY_OK ? status : Good().submit(device, queue, &copy);
}

hy_status SignalTakesAnyValue(hy_fence* fence, uint64_t value, hy_status status) {
  const hy_status result = Good().fence_signal(fence, value, status);
  return fence != nullptr && result == HY_INVALID_ARGUMENT ? HY_OK : result;
}

hy_status SignalFailsAgain(hy_fence* fence, uint64_t value, hy_status status) {
  const hy_status result = Good().fence_signal(fence, value, status);
  return result == HY_FAILED_PRECONDITION ? HY_OK : result;
}

// Tells each failure to the first who asks.
hy_status WaitTellsOnce(hy_device* device, const hy_wait_desc* desc) {
  const hy_status status = Good().fence_wait(device, desc);
  if (status == HY_OK || status == HY_DEADLINE_EXCEEDED || status == HY_INVALID_ARGUMENT) {
    return status;
  }
  static auto* const told = new std::set<hy_fence*>;
  const std::lock_guard<std::mutex> lock(g_mutex);
  bool is_new = false;
  for (const hy_fence_point& point : PointsOf(CopyOf(desc).points)) {
    is_new = told->insert(point.fence).second || is_new;
  }
  return is_new ? status : HY_OK;
}

hy_status WaitAlwaysForAll(hy_device* device, const hy_wait_desc* desc) {
  hy_wait_desc copy = CopyOf(desc);
  if (desc == nullptr || copy.mode != HY_WAIT_ANY) return Good().fence_wait(device, desc);
  copy.struct_size = sizeof copy;
  copy.mode = HY_WAIT_ALL;
  return Good().fence_wait(device, &copy);
}

hy_status WaitGivesUpEarly(hy_device* device, const hy_wait_desc* desc) {
  hy_wait_desc copy = CopyOf(desc);
  if (desc == nullptr || copy.deadline_ns < 3'000'000 || copy.deadline_ns == HY_DEADLINE_NEVER) {
    return Good().fence_wait(device, desc);
  }
  copy.struct_size = sizeof copy;
  copy.deadline_ns -= 2'000'000;
  return Good().fence_wait(device, &copy);
}

// Submissions take turns on two queues.
std::map<hy_queue*, hy_queue*>& SecondQueues() {
  static auto* const queues = new std::map<hy_queue*, hy_queue*>;
  return *queues;
}
hy_status CreateTwoQueues(hy_device* device, const hy_queue_desc* desc, hy_queue** out_queue) {
  const hy_status status = Good().queue_create(device, desc, out_queue);
  hy_queue* second = nullptr;
  if (status != HY_OK || Good().queue_create(device, desc, &second) != HY_OK) return status;
  const std::lock_guard<std::mutex> lock(g_mutex);
  SecondQueues()[*out_queue] = second;
  return HY_OK;
}
hy_status SubmitToEither(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  static std::atomic<uint32_t> turn{0};
  hy_queue* chosen = queue;
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    const auto second = SecondQueues().find(queue);
    if (second != SecondQueues().end() && turn++ % 2 == 1) chosen = second->second;
  }
  return Good().submit(device, chosen, submission);
}
hy_status ReleaseTwoQueues(uint32_t kind, void* handle) {
  hy_queue* second = nullptr;
  if (kind == HY_KIND_QUEUE) {
    const std::lock_guard<std::mutex> lock(g_mutex);
    const auto found = SecondQueues().find(static_cast<hy_queue*>(handle));
    if (found != SecondQueues().end()) {
      second = found->second;
      SecondQueues().erase(found);
    }
  }
  Good().release(HY_KIND_QUEUE, second);
  return Good().release(kind, handle);
}

// Waits in the caller's place.
hy_status SubmitBlocks(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  hy_wait_desc wait{};
  wait.deadline_ns = HY_DEADLINE_NEVER;
  std::vector<hy_fence_point> points = PointsOf(CopyOf(submission).waits);
  if (!points.empty()) WaitFor(device, std::move(points), wait);
  return Good().submit(device, queue, submission);
}

// A ring of entries that overwrites itself.
hy_status SubmitLosesSome(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  static std::atomic<uint32_t> count{0};
  hy_submission copy = CopyOf(submission);
  if (submission == nullptr || ++count % 1024 != 0) return Good().submit(device, queue, submission);
  copy.struct_size = sizeof copy;
  copy.ops = hy_array{};
  return Good().submit(device, queue, &copy);
}

constexpr char kAreas[] = "HAL-FEN-*:HAL-QUE-*";

}  // namespace

MutantTable FenceMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM33", 7, "a wait holds when the newest submitted signal has come", "sim_async", kAreas,
       [](hy_hal_api* table) {
         table->submit = &SubmitNotesNewest;
         table->fence_wait = &WaitForNewest;
       }},
      {"HM34", 7, "a wait sees only the very value that it waits for", "sim_async", kAreas,
       [](hy_hal_api* table) { table->fence_wait = &WaitOnlyForEqual; }},
      {"HM35", 7, "a failed operation leaves the signals pending", "sim_async", kAreas,
       [](hy_hal_api* table) { table->submit = &SubmitSignalsByStep; }},
      {"HM36", 7, "signals come when the work begins", "sim_async", kAreas,
       [](hy_hal_api* table) { table->submit = &SubmitSignalsEarly; }},
      {"HM37", 7, "a signal that does not grow is taken as done", "sim_async", kAreas,
       [](hy_hal_api* table) { table->fence_signal = &SignalTakesAnyValue; }},
      {"HM38", 7, "signals of a failed fence are taken as done", "sim_async", kAreas,
       [](hy_hal_api* table) { table->fence_signal = &SignalFailsAgain; }},
      {"HM39", 7, "a failure is told to the first who waits", "sim_async", kAreas,
       [](hy_hal_api* table) { table->fence_wait = &WaitTellsOnce; }},
      {"HM40", 7, "a wait for any is a wait for all", "sim_async", kAreas,
       [](hy_hal_api* table) { table->fence_wait = &WaitAlwaysForAll; }},
      {"HM41", 7, "a wait gives up before its deadline", "sim_async", kAreas,
       [](hy_hal_api* table) { table->fence_wait = &WaitGivesUpEarly; }},
      {"HM42", 7, "submissions of one queue run beside each other", "sim_async", kAreas,
       [](hy_hal_api* table) {
         table->queue_create = &CreateTwoQueues;
         table->submit = &SubmitToEither;
         table->release = &ReleaseTwoQueues;
       }},
      {"HM43", 7, "submit waits in the caller's place", "sim_async", kAreas,
       [](hy_hal_api* table) { table->submit = &SubmitBlocks; }},
      {"HM44", 7, "one submission in a thousand does nothing", "sim_async", kAreas,
       [](hy_hal_api* table) { table->submit = &SubmitLosesSome; }},
  };
  return kMutants;
}

}  // namespace halyard::conformance
