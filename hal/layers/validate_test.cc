// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/monotonic_clock.h"
#include "hal/layers/layers.h"
#include "hal/layers/test_port.h"
#include "hal/layers/verbs.h"

namespace halyard::hal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LoadTestPort;
using testing::Misdeeds;
using testing::State;

auto Is(const char* duty, const char* verb, const char* text) {
  return AllOf(Field(&Violation::duty, duty), Field(&Violation::verb, verb),
               Field(&Violation::message, HasSubstr(text)));
}

class ValidateTest : public ::testing::Test {
 protected:
  ValidateTest() {
    inner_ = LoadTestPort();
    auto port = WithValidate(
        inner_, [this](const Violation& violation) { violations_.push_back(violation); });
    EXPECT_TRUE(port.ok()) << port.status();
    port_ = *std::move(port);
    hy_open_desc desc{};
    desc.struct_size = sizeof desc;
    EXPECT_EQ(api().open(port_->self(), &desc, &device_), HY_OK);
    EXPECT_THAT(violations_, IsEmpty());
  }
  ~ValidateTest() override {
    State().misdeeds = Misdeeds{};
    api().release(HY_KIND_DEVICE, device_);
  }

  const hy_hal_api& api() { return port_->api(); }
  Misdeeds& misdeeds() { return State().misdeeds; }

  hy_buffer* Buffer(uint64_t bytes) {
    hy_buffer* buffer = nullptr;
    EXPECT_EQ(Alloc(bytes, &buffer), HY_OK);
    return buffer;
  }
  hy_status Alloc(uint64_t bytes, hy_buffer** out_buffer) {
    hy_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.bytes = bytes;
    return api().alloc(device_, &desc, out_buffer, nullptr);
  }
  hy_status Map(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint64_t access, void** out) {
    const hy_map_desc desc{sizeof(hy_map_desc), 0, offset, bytes, access};
    return api().map(buffer, &desc, out);
  }
  hy_status Unmap(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint64_t access, void* ptr) {
    const hy_map_desc desc{sizeof(hy_map_desc), 0, offset, bytes, access};
    return api().unmap(buffer, &desc, ptr);
  }
  void Free(hy_buffer* buffer) { EXPECT_EQ(api().release(HY_KIND_BUFFER, buffer), HY_OK); }

  // True if the port was called since the last time; what a broken guarantee must prevent.
  bool TookCall() {
    const bool took = !State().calls.empty();
    State().calls.clear();
    return took;
  }

  std::shared_ptr<Port> inner_;
  std::shared_ptr<Port> port_;
  hy_device* device_ = nullptr;
  std::vector<Violation> violations_;
};

TEST_F(ValidateTest, APortByTheRulesBreaksNothing) {
  hy_buffer* buffer = Buffer(100);
  void* ptr = nullptr;
  EXPECT_EQ(Map(buffer, 10, 20, HY_MAP_WRITE, &ptr), HY_OK);
  EXPECT_EQ(Unmap(buffer, 10, 20, HY_MAP_WRITE, ptr), HY_OK);
  EXPECT_EQ(Map(buffer, 90, 20, HY_MAP_WRITE, &ptr), HY_OUT_OF_RANGE);
  EXPECT_EQ(Map(buffer, 0, 0, HY_MAP_READ, &ptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(api().map(buffer, nullptr, &ptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(api().sync_range(buffer, 0, 100, HY_SYNC_TO_DEVICE), HY_OK);
  EXPECT_EQ(api().sync_range(buffer, 1, 100, HY_SYNC_TO_DEVICE), HY_OUT_OF_RANGE);
  Free(buffer);
  EXPECT_EQ(Alloc(0, &buffer), HY_INVALID_ARGUMENT);
  EXPECT_EQ(buffer, nullptr);
  hy_topology topology{};
  topology.struct_size = sizeof topology;
  hy_pu pu{};
  topology.pus = {&pu, 0, 1, sizeof pu, 0};
  EXPECT_EQ(api().topology(device_, &topology), HY_OK);
  EXPECT_EQ(pu.os_id, 4u);
  hy_device_info infos[2] = {};
  hy_array devices{infos, 0, 2, sizeof(hy_device_info), 0};
  EXPECT_EQ(api().enumerate(port_->self(), &devices), HY_OK);
  EXPECT_STREQ(infos[1].id, "test:1");
  devices.capacity = 1;
  EXPECT_EQ(api().enumerate(port_->self(), &devices), HY_OUT_OF_RANGE);
  EXPECT_EQ(api().release(HY_KIND_FENCE, nullptr), HY_OK);
  EXPECT_EQ(api().release(99, nullptr), HY_INVALID_ARGUMENT);
  EXPECT_THAT(violations_, IsEmpty());
}

// ---- Guarantees that the caller breaks ----

TEST_F(ValidateTest, AReleasedOrForeignHandleIsNotPassedOn) {
  hy_buffer* buffer = Buffer(8);
  Free(buffer);
  void* ptr = nullptr;
  TookCall();
  EXPECT_EQ(Map(buffer, 0, 8, HY_MAP_READ, &ptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(api().release(HY_KIND_BUFFER, buffer), HY_INVALID_ARGUMENT);
  EXPECT_FALSE(TookCall());
  EXPECT_THAT(violations_,
              ElementsAre(Is("core", "map", "not live"), Is("core", "release", "not live")));
}

TEST_F(ValidateTest, AHandleOfAnotherKindIsNotPassedOn) {
  hy_buffer* buffer = Buffer(8);
  TookCall();
  EXPECT_EQ(api().release(HY_KIND_QUEUE, buffer), HY_INVALID_ARGUMENT);
  EXPECT_FALSE(TookCall());
  EXPECT_THAT(violations_, ElementsAre(Is("core", "release", "a buffer where a queue belongs")));
  Free(buffer);
}

TEST_F(ValidateTest, ADeviceGoesLast) {
  hy_buffer* buffer = Buffer(8);
  TookCall();
  EXPECT_EQ(api().release(HY_KIND_DEVICE, device_), HY_INVALID_ARGUMENT);
  EXPECT_FALSE(TookCall());
  EXPECT_THAT(violations_, ElementsAre(Is("core", "release", "before 1 objects of it")));
  Free(buffer);
}

TEST_F(ValidateTest, ConflictingMapsAreNotPassedOn) {
  hy_buffer* buffer = Buffer(100);
  void* first = nullptr;
  void* second = nullptr;
  EXPECT_EQ(Map(buffer, 0, 50, HY_MAP_READ, &first), HY_OK);
  EXPECT_EQ(Map(buffer, 40, 20, HY_MAP_READ, &second), HY_OK);  // two readers do not conflict
  void* third = nullptr;
  TookCall();
  EXPECT_EQ(Map(buffer, 49, 1, HY_MAP_WRITE, &third), HY_INVALID_ARGUMENT);
  EXPECT_FALSE(TookCall());
  EXPECT_EQ(Map(buffer, 60, 1, HY_MAP_WRITE, &third), HY_OK);
  EXPECT_THAT(violations_, ElementsAre(Is("core", "map", "overlaps the live map [0, +50)")));
  EXPECT_EQ(Unmap(buffer, 0, 50, HY_MAP_READ, first), HY_OK);
  EXPECT_EQ(Unmap(buffer, 40, 20, HY_MAP_READ, second), HY_OK);
  EXPECT_EQ(Unmap(buffer, 60, 1, HY_MAP_WRITE, third), HY_OK);
  TookCall();
  EXPECT_EQ(Unmap(buffer, 60, 1, HY_MAP_WRITE, third), HY_INVALID_ARGUMENT);
  EXPECT_FALSE(TookCall());
  EXPECT_THAT(violations_.back(), Is("core", "unmap", "not live"));
  Free(buffer);
}

TEST(ValidateNeededVerbsTest, MapsOfAPortWithoutUnmapDoNotConflict) {
  std::vector<Violation> violations;
  auto port = WithValidate(LoadTestPort(true),
                           [&](const Violation& violation) { violations.push_back(violation); });
  ASSERT_TRUE(port.ok());
  const hy_hal_api& api = (*port)->api();
  hy_open_desc open{};
  open.struct_size = sizeof open;
  hy_device* device = nullptr;
  ASSERT_EQ(api.open((*port)->self(), &open, &device), HY_OK);
  hy_alloc_desc desc{};
  desc.struct_size = sizeof desc;
  desc.bytes = 8;
  hy_buffer* buffer = nullptr;
  ASSERT_EQ(api.alloc(device, &desc, &buffer, nullptr), HY_OK);
  const hy_map_desc map{sizeof(hy_map_desc), 0, 0, 8, HY_MAP_WRITE};
  void* ptr = nullptr;
  EXPECT_EQ(api.map(buffer, &map, &ptr), HY_OK);
  EXPECT_EQ(api.map(buffer, &map, &ptr), HY_OK);  // the core ended the first one by itself
  EXPECT_EQ(api.release(HY_KIND_BUFFER, buffer), HY_OK);
  EXPECT_EQ(api.release(HY_KIND_DEVICE, device), HY_OK);
  EXPECT_THAT(violations, IsEmpty());
}

TEST_F(ValidateTest, DeadHandlesInsideASubmissionAreFound) {
  hy_buffer* buffer = Buffer(8);
  Free(buffer);
  hy_op op{};
  op.struct_size = sizeof op;
  op.kind = HY_OP_FILL;
  op.dst = buffer;
  op.bytes = 8;
  op.pattern_bytes = 1;
  hy_submission submission{};
  submission.struct_size = sizeof submission;
  submission.ops = {&op, 1, 1, sizeof op, 0};
  TookCall();
  EXPECT_EQ(api().submit(device_, nullptr, &submission), HY_INVALID_ARGUMENT);
  hy_fence_point point{reinterpret_cast<hy_fence*>(buffer), 1};
  submission.ops.count = 0;
  submission.signals = {&point, 1, 1, sizeof point, 0};
  EXPECT_EQ(api().submit(device_, nullptr, &submission), HY_INVALID_ARGUMENT);
  EXPECT_FALSE(TookCall());
  EXPECT_THAT(violations_, ElementsAre(Is("core", "submit", "a buffer that is not live"),
                                       Is("core", "submit", "a fence that is not live")));
}

// ---- Duties that the port breaks ----

TEST_F(ValidateTest, AnUndocumentedStatusIsFound) {
  misdeeds().alloc_status = HY_ABORTED;
  hy_buffer* buffer = nullptr;
  EXPECT_EQ(Alloc(8, &buffer), HY_ABORTED);
  misdeeds().alloc_status = 1000;
  EXPECT_EQ(Alloc(8, &buffer), 1000);
  EXPECT_THAT(violations_,
              ElementsAre(Is("HAL-ERR-02", "alloc", "ABORTED"), Is("HAL-ERR-02", "alloc", "1000")));
}

TEST_F(ValidateTest, AHandleBesideAnErrorIsFoundAndTakenAway) {
  misdeeds().alloc_status = HY_RESOURCE_EXHAUSTED;
  misdeeds().keep_handle_on_error = true;
  hy_buffer* buffer = nullptr;
  EXPECT_EQ(Alloc(8, &buffer), HY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(buffer, nullptr);
  misdeeds().leave_handle = true;
  EXPECT_NE(Alloc(8, &buffer), HY_OK);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-ERR-03", "alloc", "a handle beside it"),
                                       Is("HAL-ERR-03", "alloc", "left the out-handle")));
}

TEST_F(ValidateTest, AcceptedRangesFlagsAndNullsAreFound) {
  misdeeds().ignore_range = true;
  misdeeds().accept_null = true;
  misdeeds().accept_flags = true;
  hy_buffer* buffer = Buffer(100);
  void* ptr = nullptr;
  EXPECT_EQ(Map(buffer, UINT64_MAX, 2, HY_MAP_READ, &ptr), HY_OK);
  EXPECT_EQ(Unmap(buffer, UINT64_MAX, 2, HY_MAP_READ, ptr), HY_OK);
  EXPECT_EQ(Map(buffer, 0, 4, uint64_t{1} << 40, &ptr), HY_OK);
  EXPECT_EQ(Unmap(buffer, 0, 4, uint64_t{1} << 40, ptr), HY_OK);
  EXPECT_EQ(api().sync_range(buffer, 99, 2, HY_SYNC_TO_DEVICE), HY_OK);
  EXPECT_EQ(api().map(buffer, nullptr, &ptr), HY_OK);
  hy_alloc_desc desc{};
  desc.struct_size = sizeof desc;
  desc.bytes = 8;
  desc.flags = uint64_t{1} << 50;
  hy_buffer* other = nullptr;
  EXPECT_EQ(api().alloc(device_, &desc, &other, nullptr), HY_OK);
  EXPECT_THAT(violations_,
              ElementsAre(Is("HAL-MAP-02", "map", "of 100 bytes"), Is("HAL-ERR-08", "map", "flags"),
                          Is("HAL-ERR-07", "sync_range", "[99, +2)"),
                          Is("HAL-ERR-01", "map", "NULL"), Is("HAL-ERR-08", "alloc", "flags")));
  Free(other);
  Free(buffer);
}

TEST_F(ValidateTest, WritesBesideTheCallersMemoryAreFoundAndKeptFromIt) {
  misdeeds().write_beyond_struct = true;
  struct {
    hy_timestamp now;
    uint64_t behind;
  } memory{};
  memory.now.struct_size = sizeof memory.now;
  memory.behind = 77;
  EXPECT_EQ(api().timestamp(device_, &memory.now), HY_OK);
  EXPECT_EQ(memory.behind, 77u);
  misdeeds().write_beyond_array = true;
  hy_device_info infos[2] = {};
  std::memset(&infos[1], 0x5a, sizeof infos[1]);
  hy_array devices{infos, 0, 1, sizeof(hy_device_info), 0};
  api().enumerate(port_->self(), &devices);
  EXPECT_EQ(infos[1].struct_size, 0x5a5a5a5au);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-ABI-05", "timestamp", "beyond"),
                                       Is("HAL-ABI-06", "enumerate", "beyond")));
}

TEST_F(ValidateTest, WritesBetweenRecordsAreFound) {
  misdeeds().write_between_records = true;
  constexpr uint32_t kStride = sizeof(hy_device_info) + 16;
  std::vector<unsigned char> memory(2 * kStride, 0x5a);
  hy_array devices{memory.data(), 0, 2, kStride, 0};
  EXPECT_EQ(api().enumerate(port_->self(), &devices), HY_OK);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-ABI-06", "enumerate", "between the records")));
}

TEST_F(ValidateTest, QueriesThatWriteAndFailOrDoNotAnswerAreFound) {
  misdeeds().write_on_unknown_key = true;
  uint64_t answer = 5;
  uint64_t bytes = sizeof answer;
  hy_query_desc desc{sizeof(hy_query_desc), HY_KIND_DEVICE, device_, 999, 0, nullptr};
  EXPECT_EQ(api().query(&desc, &answer, &bytes), HY_UNIMPLEMENTED);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-QRY-02", "query", "wrote")));
  violations_.clear();
  misdeeds().write_on_unknown_key = false;
  desc.key = HY_QUERY_VENDOR;
  EXPECT_EQ(api().query(&desc, nullptr, &bytes), HY_UNIMPLEMENTED);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-QRY-01", "query", "does not answer")));
}

TEST_F(ValidateTest, AClockThatGoesBackIsFound) {
  hy_timestamp now{};
  now.struct_size = sizeof now;
  EXPECT_EQ(api().timestamp(device_, &now), HY_OK);
  misdeeds().clock_goes_back = true;
  EXPECT_EQ(api().timestamp(device_, &now), HY_OK);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-TIM-01", "timestamp", "went back")));
}

TEST_F(ValidateTest, AReleaseThatRefusesNullIsFound) {
  misdeeds().refuse_null_release = true;
  EXPECT_EQ(api().release(HY_KIND_TEAM, nullptr), HY_INVALID_ARGUMENT);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-REL-01", "release", "for NULL")));
}

TEST_F(ValidateTest, AnImportGivenBackTwiceIsFoundAndToldOnce) {
  for (const bool twice : {false, true}) {
    misdeeds().release_twice = twice;
    violations_.clear();
    int given_back = 0;
    unsigned char memory[16] = {};
    hy_import_desc desc{};
    desc.struct_size = sizeof desc;
    desc.ptr = memory;
    desc.bytes = sizeof memory;
    desc.on_release = [](void* context) { ++*static_cast<int*>(context); };
    desc.context = &given_back;
    hy_buffer* buffer = nullptr;
    ASSERT_EQ(api().import_host(device_, &desc, &buffer), HY_OK);
    EXPECT_EQ(given_back, 0);
    Free(buffer);
    EXPECT_EQ(given_back, 1);
    EXPECT_EQ(violations_.size(), twice ? 1u : 0u);
  }
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-IMP-02", "import_host", "again")));
}

// ---- Teams and fences ----

class ValidateTeamTest : public ValidateTest {
 protected:
  ValidateTeamTest() {
    hy_team_desc desc{};
    desc.struct_size = sizeof desc;
    EXPECT_EQ(api().team_create(device_, &desc, &team_), HY_OK);
  }
  ~ValidateTeamTest() override { api().release(HY_KIND_TEAM, team_); }
  hy_team* team_ = nullptr;
};

TEST_F(ValidateTeamTest, EveryWorkerIsSeenByTheFunction) {
  int runs = 0;
  EXPECT_EQ(api().team_run(
                team_, [](void* c, uint32_t, uint32_t) { ++*static_cast<int*>(c); }, &runs),
            HY_OK);
  EXPECT_EQ(runs, 3);
  EXPECT_THAT(violations_, IsEmpty());
}

TEST_F(ValidateTeamTest, AWorkerThatWasLeftOutIsFound) {
  misdeeds().skip_worker = true;
  EXPECT_EQ(api().team_run(
                team_, [](void*, uint32_t, uint32_t) {}, nullptr),
            HY_OK);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-TEAM-01", "team_run", "0 times with the index 2")));
}

TEST_F(ValidateTeamTest, ARunInsideARunMustFail) {
  auto nested = [](void* context, uint32_t index, uint32_t) {
    auto* run_again = static_cast<std::function<void()>*>(context);
    if (index == 0) (*run_again)();
  };
  std::function<void()> run_again = [&] {
    api().team_run(
        team_, [](void*, uint32_t, uint32_t) {}, nullptr);
  };
  EXPECT_EQ(api().team_run(team_, nested, &run_again), HY_OK);
  EXPECT_THAT(violations_, IsEmpty());
  misdeeds().run_nested = true;
  EXPECT_EQ(api().team_run(team_, nested, &run_again), HY_OK);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-TEAM-06", "team_run", "inside a run")));
}

class ValidateFenceTest : public ValidateTest {
 protected:
  ValidateFenceTest() { EXPECT_EQ(api().fence_create(device_, 3, &fence_), HY_OK); }
  ~ValidateFenceTest() override { api().release(HY_KIND_FENCE, fence_); }

  hy_status Wait(uint64_t value, uint64_t deadline_ns) {
    hy_fence_point point{fence_, value};
    uint64_t reached = 0;
    hy_wait_desc desc{};
    desc.struct_size = sizeof desc;
    desc.points = {&point, 1, 1, sizeof point, 0};
    desc.deadline_ns = deadline_ns;
    desc.out_values = wants_values_ ? &reached : nullptr;
    return api().fence_wait(device_, &desc);
  }
  hy_fence* fence_ = nullptr;
  bool wants_values_ = false;
};

TEST_F(ValidateFenceTest, ASignalThatDoesNotRiseIsFound) {
  EXPECT_EQ(api().fence_signal(fence_, 3, HY_OK), HY_INVALID_ARGUMENT);
  EXPECT_EQ(api().fence_signal(fence_, 5, HY_OK), HY_OK);
  EXPECT_THAT(violations_, IsEmpty());
  misdeeds().lower_signal = true;
  EXPECT_EQ(api().fence_signal(fence_, 5, HY_OK), HY_OK);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-FEN-07", "fence_signal", "5 was reached")));
}

TEST_F(ValidateFenceTest, ASignalAfterAFailureIsFound) {
  EXPECT_EQ(api().fence_signal(fence_, 10, HY_ABORTED), HY_OK);
  EXPECT_EQ(api().fence_signal(fence_, 11, HY_OK), HY_OK);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-FEN-08", "fence_signal", "had failed")));
}

TEST_F(ValidateFenceTest, ADeadlineThatIsCalledTooEarlyIsFound) {
  EXPECT_EQ(Wait(4, HY_DEADLINE_POLL), HY_DEADLINE_EXCEEDED);
  EXPECT_EQ(Wait(4, MonotonicNs() + 1'000'000), HY_DEADLINE_EXCEEDED);
  EXPECT_THAT(violations_, IsEmpty());
  misdeeds().early_deadline = true;
  EXPECT_EQ(Wait(4, HY_DEADLINE_NEVER), HY_DEADLINE_EXCEEDED);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-FEN-05", "fence_wait", "before the deadline")));
}

TEST_F(ValidateFenceTest, ValuesThatDoNotReachTheirPointsAreFound) {
  wants_values_ = true;  // which the port never writes
  EXPECT_EQ(Wait(2, HY_DEADLINE_POLL), HY_OK);
  EXPECT_THAT(violations_, ElementsAre(Is("HAL-FEN-04", "fence_wait", "reach 0 of 1")));
}

// ---- What is documented ----

TEST(VerbsTest, StatusesFollowTheHeader) {
  EXPECT_STREQ(VerbName(Verb::kEnumerate), "enumerate");
  EXPECT_STREQ(VerbName(Verb::kRelease), "release");
  EXPECT_TRUE(MayReturn(Verb::kRelease, HY_OK));
  EXPECT_FALSE(MayReturn(Verb::kRelease, HY_RESOURCE_EXHAUSTED));
  EXPECT_TRUE(MayReturn(Verb::kTopology, HY_RESOURCE_EXHAUSTED));  // HAL-ERR-04
  EXPECT_FALSE(IsDocumented(Verb::kTopology, HY_RESOURCE_EXHAUSTED));
  EXPECT_TRUE(MayReturn(Verb::kFenceWait, HY_ABORTED));  // the failure of a fence
  EXPECT_FALSE(MayReturn(Verb::kMap, HY_ABORTED));
  EXPECT_FALSE(MayReturn(Verb::kMap, -1));
  EXPECT_FALSE(MayReturn(Verb::kMap, HY_STATUS_COUNT));
}

}  // namespace
}  // namespace halyard::hal
