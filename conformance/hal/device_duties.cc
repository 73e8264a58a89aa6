// SPDX-License-Identifier: Apache-2.0
//
// HAL-DEV: finding and opening devices.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

std::vector<hy_device_info> Enumerate(HalContext& context) {
  std::vector<hy_device_info> devices(64);
  for (hy_device_info& info : devices) info.struct_size = sizeof info;
  hy_array array = ArrayOf(devices);
  array.count = 0;
  HY_EXPECT_STATUS(context.api().enumerate(context.port()->self(), &array), HY_OK);
  devices.resize(std::min<size_t>(array.count, devices.size()));
  return devices;
}

std::string IdOf(const hy_device_info& info) {
  const char* const end = std::find(std::begin(info.id), std::end(info.id), '\0');
  EXPECT_NE(end, std::end(info.id)) << "an id without NUL";
  return std::string(info.id, end);
}

hy_status TryOpen(HalContext& context, const hy_open_desc& desc) {
  hy_device* device = nullptr;
  const hy_status status = context.api().open(context.port()->self(), &desc, &device);
  if (status == HY_OK) {
    HY_EXPECT_STATUS(context.api().release(HY_KIND_DEVICE, device), HY_OK);
  } else {
    EXPECT_EQ(device, nullptr) << "a handle comes with " << hy_status_name(status);
  }
  return status;
}

}  // namespace

HY_DUTY("HAL-DEV-01", EnumerationCountsAndFills, .needs_device = false) {
  hy_array only_count{nullptr, 77, 0, sizeof(hy_device_info), 0};
  HY_EXPECT_STATUS(context.api().enumerate(context.port()->self(), &only_count), HY_OK);
  const std::vector<hy_device_info> devices = Enumerate(context);
  EXPECT_EQ(only_count.count, devices.size());
  if (devices.empty()) GTEST_SKIP() << "there is no device here: it counts zero";
  hy_device_info one = Sized<hy_device_info>();
  hy_array no_room{&one, 0, 0, sizeof one, 0};
  HY_EXPECT_STATUS(context.api().enumerate(context.port()->self(), &no_room), HY_OUT_OF_RANGE);
  EXPECT_EQ(no_room.count, devices.size());
}

HY_DUTY("HAL-DEV-02", IdsAreUniqueAndStable, .needs_device = false) {
  const std::vector<hy_device_info> devices = Enumerate(context);
  std::set<std::string> ids;
  for (const hy_device_info& info : devices) {
    EXPECT_FALSE(IdOf(info).empty());
    EXPECT_TRUE(ids.insert(IdOf(info)).second) << "id " << IdOf(info) << " is there twice";
    EXPECT_TRUE(info.kind == HY_DEVICE_CPU_CLASS || info.kind == HY_DEVICE_DISCRETE) << info.kind;
    EXPECT_NE(info.name[0], '\0') << "a device needs a name for people";
    EXPECT_NE(std::find(std::begin(info.name), std::end(info.name), '\0'), std::end(info.name));
    EXPECT_GE(info.struct_size, sizeof info);
  }
  OnNewThread([&] {
    const std::vector<hy_device_info> again = Enumerate(context);
    ASSERT_EQ(again.size(), devices.size());
    for (size_t i = 0; i < again.size(); ++i) EXPECT_EQ(IdOf(again[i]), IdOf(devices[i]));
  });
}

HY_DUTY("HAL-DEV-03", UnknownIdsAndOptionsAreRefused, .needs_device = false) {
  hy_open_desc desc = context.open_desc();
  for (const char* id : {"no-such-device", "", "0000:zz"}) {
    desc.id = id;
    HY_EXPECT_STATUS(TryOpen(context, desc), HY_NOT_FOUND);
  }
  desc = context.open_desc();
  hy_option option = Sized<hy_option>();
  option.key = "no_such_option";
  option.value = "1";
  desc.options = {&option, 1, 1, sizeof option, 0};
  HY_EXPECT_STATUS(TryOpen(context, desc), HY_INVALID_ARGUMENT);
}

HY_DUTY("HAL-DEV-04", OpeningAThousandTimesLeavesNothing, .needs_device = false, .deadline_s = 30,
        .in_validate = false, .alone = true) {
  const hy_open_desc desc = context.open_desc();
  const auto open_and_close = [&] { return TryOpen(context, desc); };
  const hy_status first = open_and_close();
  if (first == HY_UNAVAILABLE) GTEST_SKIP() << "the device is absent";
  ASSERT_EQ(first, HY_OK) << hy_status_name(first);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(open_and_close(), HY_OK);
  const os::Holdings before = os::CurrentHoldings();
  // A slow device is opened as often as fits in the time; a leak shows in fewer rounds too.
  const uint64_t deadline = MonotonicNs() + 5'000'000'000u;
  uint64_t rounds = 0;
  while (rounds < 1000 && (MonotonicNs() < deadline || rounds < 20)) {
    ASSERT_EQ(open_and_close(), HY_OK) << "round " << rounds;
    ++rounds;
  }
  os::Holdings after = os::CurrentHoldings();
  for (int i = 0; i < 200 && after.threads > before.threads; ++i) {
    timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
    after = os::CurrentHoldings();
  }
  context.Fact("rounds", absl::StrCat(rounds));
  EXPECT_LE(after.descriptors, before.descriptors) << "descriptors";
  EXPECT_LE(after.threads, before.threads) << "threads";
  EXPECT_LT(after.mappings, before.mappings + rounds / 2) << "mappings";
  EXPECT_LE(after.service_allocations, before.service_allocations) << "the services' memory";
  // The smallest block of the C library takes 32 bytes; caches of a driver that fill up take less
  // a round.
  EXPECT_LT(after.heap_bytes, before.heap_bytes + 24 * rounds) << "memory of the C library";
}

HY_DUTY("HAL-DEV-05", ASecondOpenIsAsTheCapabilitySays) {
  const absl::StatusOr<hal::Device> again = context.OpenAgain();
  if (!context.can_reopen()) {
    EXPECT_TRUE(absl::IsAlreadyExists(again.status())) << again.status();
    return;
  }
  HY_ASSERT_OK(again.status());
  // Both work, and the end of one leaves the other alone.
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, 1000));
  {
    const absl::StatusOr<hal::Device> third = context.OpenAgain();
    HY_ASSERT_OK(third.status());
    hal::AllocRequest request;
    request.bytes = 1000;
    HY_ASSERT_OK_AND_ASSIGN(hal::Buffer other, third->Allocate(request));
    HY_ASSERT_OK(other.Write(0, Bytes(1000, 2)));
    HY_ASSERT_OK(buffer.Write(0, Bytes(1000, 1)));
  }
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(buffer, 0, 1000));
  EXPECT_EQ(FirstDifference(got, Bytes(1000, 1)), "");
}

DutyTable DeviceDuties() {
  static constexpr DutyTest kTests[] = {
      EnumerationCountsAndFills, IdsAreUniqueAndStable, UnknownIdsAndOptionsAreRefused,
      OpeningAThousandTimesLeavesNothing, ASecondOpenIsAsTheCapabilitySays};
  return kTests;
}

}  // namespace halyard::conformance
