// SPDX-License-Identifier: Apache-2.0
//
// HAL-SYN: persistent maps and the hand-over of their ranges.
#include <algorithm>

#include "conformance/hal/areas.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kBufferBytes = 8192;

// A buffer with a persistent map over all of it.
struct Held {
  hal::Buffer buffer;
  hal::Mapping map;
  uint8_t* data() const { return static_cast<uint8_t*>(map.data()); }
};

absl::StatusOr<Held> HoldBuffer(HalContext& context) {
  absl::StatusOr<hal::Buffer> buffer = NewBuffer(context, kBufferBytes);
  if (!buffer.ok()) return buffer.status();
  absl::StatusOr<hal::Mapping> map =
      buffer->Map(0, kBufferBytes, HY_MAP_READ | HY_MAP_WRITE | HY_MAP_PERSISTENT);
  if (!map.ok()) return map.status();
  return Held{*std::move(buffer), *std::move(map)};
}

bool HasPersistentMaps(HalContext& context) {
  return (context.device().caps() & HY_CAP_PERSISTENT_MAP) != 0;
}
bool IsCoherent(HalContext& context) { return (context.device().caps() & HY_CAP_COHERENT) != 0; }

#define HY_NEED_PERSISTENT_MAPS() \
  if (!HasPersistentMaps(context)) GTEST_SKIP() << "the port has no persistent maps"

}  // namespace

HY_DUTY("HAL-SYN-01", TheDeviceSeesWhatWasHandedOver) {
  HY_NEED_PERSISTENT_MAPS();
  HY_ASSERT_OK_AND_ASSIGN(Held held, HoldBuffer(context));
  Bytes expected = SeededBytes(context.seed(), kBufferBytes);
  std::copy(expected.begin(), expected.end(), held.data());
  HY_ASSERT_OK(held.map.Sync(0, kBufferBytes, HY_SYNC_TO_DEVICE));
  HY_ASSERT_OK_AND_ASSIGN(const Bytes all, ReadByCopy(context, held.buffer, 0, kBufferBytes));
  ASSERT_EQ(FirstDifference(all, expected), "");
  // Then ranges that are no multiple of the granule.
  for (const uint64_t offset : {1u, 255u, 4000u}) {
    std::fill_n(held.data() + offset, 77, static_cast<uint8_t>(offset));
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), 77,
                static_cast<uint8_t>(offset));
    HY_ASSERT_OK(held.map.Sync(offset, 77, HY_SYNC_TO_DEVICE));
    HY_ASSERT_OK_AND_ASSIGN(const Bytes part, ReadByCopy(context, held.buffer, offset, 77));
    EXPECT_EQ(FirstDifference(part, Bytes(77, static_cast<uint8_t>(offset))), "");
  }
}

HY_DUTY("HAL-SYN-02", TheHostSeesWhatWasHandedBack) {
  HY_NEED_PERSISTENT_MAPS();
  HY_ASSERT_OK_AND_ASSIGN(Held held, HoldBuffer(context));
  std::fill_n(held.data(), kBufferBytes, uint8_t{0x11});
  HY_ASSERT_OK(held.map.Sync(0, kBufferBytes, HY_SYNC_TO_DEVICE));
  for (int round = 0; round < 3; ++round) {
    const Bytes fresh = SeededBytes(context.seed() + static_cast<uint64_t>(round), kBufferBytes);
    HY_ASSERT_OK(WriteByCopy(context, held.buffer, 0, fresh));
    HY_ASSERT_OK(held.map.Sync(0, kBufferBytes, HY_SYNC_FROM_DEVICE));
    ASSERT_EQ(FirstDifference(Bytes(held.data(), held.data() + kBufferBytes), fresh), "");
  }
}

HY_DUTY("HAL-SYN-03", NeitherDirectionLosesNeighbours) {
  HY_NEED_PERSISTENT_MAPS();
  HY_ASSERT_OK_AND_ASSIGN(Held held, HoldBuffer(context));
  Bytes expected(kBufferBytes, 0x22);
  std::fill_n(held.data(), kBufferBytes, uint8_t{0x22});
  HY_ASSERT_OK(held.map.Sync(0, kBufferBytes, HY_SYNC_TO_DEVICE));
  const uint64_t granule = context.device().sync_granule_bytes();
  // The device writes the first half of a granule, the host the second half: each hands over.
  const uint64_t half = std::max<uint64_t>(granule / 2, 8);
  const uint64_t base = 4 * half;
  HY_ASSERT_OK(WriteByCopy(context, held.buffer, base, Bytes(static_cast<size_t>(half), 0x33)));
  std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(base), half, uint8_t{0x33});
  HY_ASSERT_OK(held.map.Sync(base, half, HY_SYNC_FROM_DEVICE));
  ASSERT_EQ(FirstDifference(Bytes(held.data(), held.data() + kBufferBytes), expected), "")
      << "taking back a range lost what shares its granule";
  std::fill_n(held.data() + base + half, half, uint8_t{0x44});
  std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(base + half), half, uint8_t{0x44});
  HY_ASSERT_OK(held.map.Sync(base + half, half, HY_SYNC_TO_DEVICE));
  HY_ASSERT_OK_AND_ASSIGN(const Bytes device, ReadByCopy(context, held.buffer, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(device, expected), "") << "the device's view";
  HY_ASSERT_OK(held.map.Sync(base, half, HY_SYNC_FROM_DEVICE));
  EXPECT_EQ(FirstDifference(Bytes(held.data(), held.data() + kBufferBytes), expected), "")
      << "the host's view";
}

HY_DUTY("HAL-SYN-04", ACoherentDeviceNeedsNoSync) {
  HY_NEED_PERSISTENT_MAPS();
  if (!IsCoherent(context)) GTEST_SKIP() << "the device does not say that it is coherent";
  HY_ASSERT_OK_AND_ASSIGN(Held held, HoldBuffer(context));
  const Bytes by_host = SeededBytes(context.seed(), kBufferBytes);
  std::copy(by_host.begin(), by_host.end(), held.data());
  HY_ASSERT_OK_AND_ASSIGN(const Bytes device, ReadByCopy(context, held.buffer, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(device, by_host), "") << "the device does not see the host's bytes";
  const Bytes by_device = SeededBytes(context.seed() + 1, kBufferBytes);
  HY_ASSERT_OK(WriteByCopy(context, held.buffer, 0, by_device));
  EXPECT_EQ(FirstDifference(Bytes(held.data(), held.data() + kBufferBytes), by_device), "")
      << "the host does not see the device's bytes";
}

HY_DUTY("HAL-SYN-01", AnUncoherentDeviceSaysSo) {
  HY_NEED_PERSISTENT_MAPS();
  // A wrong COHERENT bit shows as stale bytes in SYN-04; a missing one must come with a granule.
  const uint64_t granule = context.device().sync_granule_bytes();
  if (IsCoherent(context)) {
    EXPECT_EQ(granule, 1u) << "a coherent device has nothing to round out to";
  } else {
    EXPECT_GE(granule, 1u);
    EXPECT_EQ(granule & (granule - 1), 0u) << "the granule " << granule << " is no power of two";
    EXPECT_NE(context.api().sync_range, nullptr) << "not coherent, and no way to hand over";
  }
}

DutyTable SyncDuties() {
  static constexpr DutyTest kTests[] = {
      TheDeviceSeesWhatWasHandedOver, TheHostSeesWhatWasHandedBack, NeitherDirectionLosesNeighbours,
      ACoherentDeviceNeedsNoSync, AnUncoherentDeviceSaysSo};
  return kTests;
}

}  // namespace halyard::conformance
