// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ports/kit/test_host.h"

extern "C" const hy_hal_api* halyard_hal_get_sim_async(uint32_t, uint32_t, const hy_host_services*,
                                                       uint32_t*);

namespace halyard::sim_async {
namespace {

using port_kit::CopyIn;
using port_kit::CopyOut;
using port_kit::Fill;
using port_kit::NewOp;
using port_kit::TestDevice;
using ::testing::Each;

uint64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

hy_op HostCall(hy_status (*call)(void*), void* context) {
  hy_op op = NewOp(HY_OP_HOST_CALL);
  op.call = call;
  op.context = context;
  return op;
}

// A device with queues and fences that end with it.
class Rig {
 public:
  explicit Rig(const char* delay_us = "20", const char* seed = "1")
      : device_(halyard_hal_get_sim_async, {{"delay_us", delay_us}, {"seed", seed}}) {}
  ~Rig() {
    for (hy_queue* queue : queues_) hy_queue_release(&api(), queue);
    for (hy_fence* fence : fences_) hy_fence_release(&api(), fence);
  }
  TestDevice& device() { return device_; }
  const hy_hal_api& api() const { return device_.api(); }

  hy_queue* NewQueue() {
    hy_queue_desc desc = {sizeof desc, 0, 0};
    hy_queue* queue = nullptr;
    EXPECT_EQ(api().queue_create(device_.handle(), &desc, &queue), HY_OK);
    queues_.push_back(queue);
    return queue;
  }
  void ReleaseNewestQueue() {
    EXPECT_EQ(hy_queue_release(&api(), queues_.back()), HY_OK);
    queues_.pop_back();
  }
  hy_fence* NewFence(uint64_t initial = 0) {
    hy_fence* fence = nullptr;
    EXPECT_EQ(api().fence_create(device_.handle(), initial, &fence), HY_OK);
    fences_.push_back(fence);
    return fence;
  }
  hy_status Wait(std::vector<hy_fence_point> points, uint32_t mode = HY_WAIT_ALL,
                 uint64_t deadline_ns = HY_DEADLINE_NEVER, uint64_t* out_values = nullptr) {
    hy_wait_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.mode = mode;
    desc.points.data = points.data();
    desc.points.count = static_cast<uint32_t>(points.size());
    desc.points.stride = sizeof(hy_fence_point);
    desc.deadline_ns = deadline_ns;
    desc.out_values = out_values;
    return api().fence_wait(device_.handle(), &desc);
  }

 private:
  TestDevice device_;
  std::vector<hy_queue*> queues_;
  std::vector<hy_fence*> fences_;
};

TEST(SimAsyncTest, SubmitReturnsBeforeItsWaitIsMet) {
  Rig rig;
  hy_queue* queue = rig.NewQueue();
  hy_fence* gate = rig.NewFence();
  hy_fence* done = rig.NewFence();
  hy_buffer* buffer = rig.device().NewBuffer(64);
  uint8_t result = 0;
  ASSERT_EQ(rig.device().Submit({Fill(buffer, 0, 64, 9, 1), CopyOut(buffer, 5, &result, 1)}, queue,
                                {{gate, 3}}, {{done, 1}}),
            HY_OK);
  EXPECT_EQ(rig.Wait({{done, 1}}, HY_WAIT_ALL, NowNs() + 5000000), HY_DEADLINE_EXCEEDED);
  EXPECT_EQ(result, 0);
  ASSERT_EQ(rig.api().fence_signal(gate, 7, HY_OK), HY_OK);  // gaps are legal
  ASSERT_EQ(rig.Wait({{done, 1}}), HY_OK);
  EXPECT_EQ(result, 9);
}

// The order in which host calls of two queues run, as letters.
struct Order {
  std::mutex mutex;
  std::string letters;
};
struct Letter {
  Order* order;
  char letter;
};
hy_status Note(void* context) {
  auto* letter = static_cast<Letter*>(context);
  const std::lock_guard<std::mutex> lock(letter->order->mutex);
  letter->order->letters += letter->letter;
  return HY_OK;
}

TEST(SimAsyncTest, QueuesOvertakeEachOtherInBothDirections) {
  Rig rig("2000", "3");
  hy_queue* first = rig.NewQueue();
  hy_queue* second = rig.NewQueue();
  hy_fence* first_done = rig.NewFence();
  hy_fence* second_done = rig.NewFence();
  int overtaken = 0;
  constexpr int kRounds = 40;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    Order order;
    Letter a{&order, 'a'};
    Letter b{&order, 'b'};
    rig.device().Submit({HostCall(&Note, &a)}, first, {}, {{first_done, round}});
    rig.device().Submit({HostCall(&Note, &b)}, second, {}, {{second_done, round}});
    ASSERT_EQ(rig.Wait({{first_done, round}, {second_done, round}}), HY_OK);
    if (order.letters == "ba") ++overtaken;
  }
  EXPECT_GT(overtaken, 0);
  EXPECT_LT(overtaken, kRounds);
}

TEST(SimAsyncTest, OneQueueKeepsItsOrderAndFencesHoldAcrossQueues) {
  Rig rig("200");
  hy_queue* first = rig.NewQueue();
  hy_queue* second = rig.NewQueue();
  hy_fence* fence = rig.NewFence();
  Order order;
  Letter a{&order, 'a'};
  Letter b{&order, 'b'};
  Letter c{&order, 'c'};
  rig.device().Submit({HostCall(&Note, &c)}, second, {{fence, 1}}, {{fence, 2}});
  rig.device().Submit({HostCall(&Note, &a), HostCall(&Note, &b)}, first);
  rig.device().Submit({HostCall(&Note, &b)}, first, {}, {{fence, 1}});
  ASSERT_EQ(rig.Wait({{fence, 2}}), HY_OK);
  EXPECT_EQ(order.letters, "abbc");
}

hy_status Fail(void*) { return HY_ABORTED; }

TEST(SimAsyncTest, AFailureReachesEverySignalAndEveryWait) {
  Rig rig;
  hy_queue* first = rig.NewQueue();
  hy_queue* second = rig.NewQueue();
  hy_fence* failed = rig.NewFence();
  hy_fence* also_failed = rig.NewFence();
  hy_fence* further = rig.NewFence();
  hy_fence* unharmed = rig.NewFence();
  hy_buffer* buffer = rig.device().NewBuffer(16);
  rig.device().Submit({HostCall(&Fail, nullptr), Fill(buffer, 0, 16, 9, 1)}, first, {},
                      {{failed, 1}, {also_failed, 5}});
  rig.device().Submit({Fill(buffer, 0, 16, 8, 1)}, second, {{failed, 1}}, {{further, 1}});
  std::vector<uint8_t> result(16, 1);
  rig.device().Submit({CopyOut(buffer, 0, result.data(), 16)}, first, {}, {{unharmed, 1}});
  EXPECT_EQ(rig.Wait({{further, 1}}), HY_ABORTED);
  EXPECT_EQ(rig.Wait({{also_failed, 1}}), HY_ABORTED);
  EXPECT_EQ(rig.Wait({{failed, 1}}), HY_ABORTED) << "each time";
  EXPECT_EQ(rig.Wait({{unharmed, 1}}), HY_OK);
  EXPECT_THAT(result, Each(0)) << "nothing after the failed operation ran";
  EXPECT_EQ(rig.api().fence_signal(failed, 9, HY_OK), HY_FAILED_PRECONDITION);
}

TEST(SimAsyncTest, AnyAndAllAndPolls) {
  Rig rig;
  hy_fence* low = rig.NewFence(2);
  hy_fence* high = rig.NewFence(9);
  uint64_t values[2] = {};
  EXPECT_EQ(rig.Wait({{low, 3}, {high, 4}}, HY_WAIT_ANY, HY_DEADLINE_POLL, values), HY_OK);
  EXPECT_EQ(values[0], 2u);
  EXPECT_EQ(values[1], 9u);
  EXPECT_EQ(rig.Wait({{low, 3}, {high, 4}}, HY_WAIT_ALL, HY_DEADLINE_POLL), HY_DEADLINE_EXCEEDED);
  EXPECT_EQ(rig.Wait({{low, 2}, {high, 9}}, HY_WAIT_ALL, HY_DEADLINE_POLL), HY_OK);
  EXPECT_EQ(rig.api().fence_signal(low, 2, HY_OK), HY_INVALID_ARGUMENT);
  EXPECT_EQ(rig.Wait({}, HY_WAIT_ANY, HY_DEADLINE_POLL), HY_INVALID_ARGUMENT);
}

TEST(SimAsyncTest, ManySubmissionsOnManyQueuesAllComplete) {
  Rig rig("0");
  constexpr uint64_t kEach = 2000;
  std::vector<std::thread> threads;
  std::vector<hy_fence*> fences;
  std::vector<hy_buffer*> buffers;
  for (int i = 0; i < 4; ++i) {
    fences.push_back(rig.NewFence());
    buffers.push_back(rig.device().NewBuffer(8));
  }
  std::vector<hy_queue*> queues;
  for (int i = 0; i < 4; ++i) queues.push_back(rig.NewQueue());
  for (size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t n = 1; n <= kEach; ++n) {
        rig.device().Submit({Fill(buffers[i], 0, 4, static_cast<uint32_t>(n), 4)}, queues[i], {},
                            {{fences[i], n}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < 4; ++i) {
    uint32_t last = 0;
    rig.device().Submit({CopyOut(buffers[i], 0, &last, 4)}, queues[i], {},
                        {{fences[i], kEach + 1}});
    ASSERT_EQ(rig.Wait({{fences[i], kEach + 1}}), HY_OK);
    EXPECT_EQ(last, kEach);
  }
}

TEST(SimAsyncTest, ReleasingAQueueCancelsWhatCannotComplete) {
  Rig rig;
  hy_fence* never = rig.NewFence();
  hy_fence* done = rig.NewFence();
  hy_queue* queue = rig.NewQueue();
  rig.device().Submit({}, queue, {{never, 1}}, {{done, 1}});
  rig.ReleaseNewestQueue();
  EXPECT_EQ(rig.Wait({{done, 1}}), HY_CANCELLED);
}

TEST(SimAsyncTest, NoMemoryRefusesASubmissionAndLosesNone) {
  Rig rig;
  hy_queue* queue = rig.NewQueue();
  hy_fence* done = rig.NewFence();
  port_kit::FailAllocation(1);
  EXPECT_EQ(rig.device().Submit({}, queue, {}, {{done, 1}}), HY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(port_kit::FailAllocation(0), 1u);
  EXPECT_EQ(rig.Wait({{done, 1}}, HY_WAIT_ALL, HY_DEADLINE_POLL), HY_DEADLINE_EXCEEDED);
  EXPECT_EQ(rig.device().Submit({}, queue, {}, {{done, 1}}), HY_OK);
  EXPECT_EQ(rig.Wait({{done, 1}}), HY_OK);
}

TEST(SimAsyncTest, OptionsAreChecked) {
  EXPECT_EQ(TestDevice(halyard_hal_get_sim_async, {{"seed", "x"}}).open_status(),
            HY_INVALID_ARGUMENT);
  EXPECT_EQ(TestDevice(halyard_hal_get_sim_async, {{"delay", "1"}}).open_status(),
            HY_INVALID_ARGUMENT);
  EXPECT_NE(port_kit::LastReport().find("delay=1"), std::string::npos);
}

}  // namespace
}  // namespace halyard::sim_async
