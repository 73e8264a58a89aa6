// SPDX-License-Identifier: Apache-2.0
//
// HAL-MAP: scoped maps, through the core, so that staged ones are held to the same contract.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kBufferBytes = 9001;  // no multiple of anything

// Offsets at which something could go wrong: ends, granules, pages.
std::vector<uint64_t> Offsets(HalContext& context) {
  const uint64_t granule = std::max<uint64_t>(context.device().sync_granule_bytes(), 64);
  std::vector<uint64_t> offsets = {0,    1,    granule - 1, granule,         granule + 1,
                                   4095, 4096, 4097,        kBufferBytes - 1};
  offsets.erase(std::remove_if(offsets.begin(), offsets.end(),
                               [](uint64_t offset) { return offset >= kBufferBytes; }),
                offsets.end());
  return offsets;
}

struct Prepared {
  hal::Buffer buffer;
  Bytes bytes;
};

// A buffer whose bytes came by copy: no host view of it exists yet.
absl::StatusOr<Prepared> PrepareByCopy(HalContext& context, uint64_t count = kBufferBytes) {
  absl::StatusOr<hal::Buffer> buffer = NewBuffer(context, count);
  if (!buffer.ok()) return buffer.status();
  Bytes bytes = SeededBytes(context.seed(), static_cast<size_t>(count));
  const absl::Status written = WriteByCopy(context, *buffer, 0, bytes);
  if (!written.ok()) return written;
  return Prepared{*std::move(buffer), std::move(bytes)};
}

Bytes Part(const Bytes& bytes, uint64_t offset, uint64_t count) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return Bytes(begin, begin + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

HY_DUTY("HAL-MAP-01", ThePointerIsThatOfTheOffset) {
  HY_ASSERT_OK_AND_ASSIGN(Prepared one, PrepareByCopy(context));
  for (const uint64_t offset : Offsets(context)) {
    for (const uint64_t wanted : {1u, 2u, 63u, 64u, 4096u}) {
      const uint64_t count = std::min<uint64_t>(wanted, kBufferBytes - offset);
      HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(one.buffer, offset, count));
      EXPECT_EQ(FirstDifference(got, Part(one.bytes, offset, count)), "")
          << "mapped " << count << " bytes at " << offset;
    }
  }
  HY_ASSERT_OK_AND_ASSIGN(const Bytes all, ReadByMap(one.buffer, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(all, one.bytes), "");
}

HY_DUTY("HAL-MAP-01", WritesLandAtTheOffset) {
  HY_ASSERT_OK_AND_ASSIGN(Prepared one, PrepareByCopy(context));
  uint8_t mark = 1;
  for (const uint64_t offset : Offsets(context)) {
    const uint64_t count = std::min<uint64_t>(3, kBufferBytes - offset);
    HY_ASSERT_OK_AND_ASSIGN(hal::Mapping map,
                            one.buffer.Map(offset, count, HY_MAP_WRITE | HY_MAP_READ));
    for (uint64_t i = 0; i < count; ++i) {
      one.bytes[static_cast<size_t>(offset + i)] = mark;
      static_cast<uint8_t*>(map.data())[i] = mark++;
    }
    HY_ASSERT_OK(map.Unmap());
  }
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByCopy(context, one.buffer, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(got, one.bytes), "");
}

HY_DUTY("HAL-MAP-02", RangesOutsideAreRefused) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, 100));
  EXPECT_TRUE(absl::IsOutOfRange(buffer.Map(0, 101, HY_MAP_READ).status()));
  EXPECT_TRUE(absl::IsOutOfRange(buffer.Map(100, 1, HY_MAP_READ).status()));
  EXPECT_TRUE(absl::IsOutOfRange(buffer.Map(99, 2, HY_MAP_READ).status()));
  EXPECT_TRUE(absl::IsOutOfRange(buffer.Map(UINT64_MAX, 2, HY_MAP_READ).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(buffer.Map(0, 0, HY_MAP_READ).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(buffer.Map(50, 0, HY_MAP_WRITE).status()));
}

HY_DUTY("HAL-MAP-02", ThePortRefusesRangesOutside, .in_validate = false) {
  if (context.api().map == nullptr) GTEST_SKIP() << "the port leaves map to the core";
  const RawBuffer buffer(context, 100);
  const struct {
    uint64_t offset, bytes;
    hy_status expected;
  } ranges[] = {{0, 101, HY_OUT_OF_RANGE},
                {100, 1, HY_OUT_OF_RANGE},
                {99, 2, HY_OUT_OF_RANGE},
                {UINT64_MAX, 2, HY_OUT_OF_RANGE},
                {0, 0, HY_INVALID_ARGUMENT}};
  for (const auto& range : ranges) {
    hy_map_desc desc = Sized<hy_map_desc>();
    desc.offset = range.offset;
    desc.bytes = range.bytes;
    desc.access = HY_MAP_READ;
    void* ptr = nullptr;
    const hy_status status = context.api().map(buffer.get(), &desc, &ptr);
    if (status == HY_UNIMPLEMENTED) GTEST_SKIP() << "the port leaves map to the core";
    EXPECT_EQ(status, range.expected)
        << range.bytes << " bytes at " << range.offset << ": " << hy_status_name(status);
    EXPECT_EQ(ptr, nullptr);
  }
}

HY_DUTY("HAL-MAP-03", AMapWithoutWriteWritesNothingBack) {
  const hy_memory_class* const kind = &context.device().memory_classes().front();
  const bool direct =
      (kind->flags & HY_MEMORY_HOST_VISIBLE) != 0 &&
      ((kind->flags & HY_MEMORY_COHERENT) != 0 || (context.device().caps() & HY_CAP_COHERENT) != 0);
  if (direct) GTEST_SKIP() << "the map is the memory itself: there is no write-back to leave out";
  HY_ASSERT_OK_AND_ASSIGN(Prepared one, PrepareByCopy(context));
  for (const uint64_t offset : {0u, 1u, 4090u}) {
    HY_ASSERT_OK_AND_ASSIGN(hal::Mapping map, one.buffer.Map(offset, 1000, HY_MAP_READ));
    std::fill_n(static_cast<uint8_t*>(map.data()), 1000, uint8_t{0xaa});
    HY_ASSERT_OK(map.Unmap());
  }
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByCopy(context, one.buffer, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(got, one.bytes), "") << "a READ map was written back";
}

HY_DUTY("HAL-MAP-04", DiscardLeavesTheNeighboursAlone) {
  HY_ASSERT_OK_AND_ASSIGN(Prepared one, PrepareByCopy(context));
  for (const uint64_t offset : Offsets(context)) {
    const uint64_t count = std::min<uint64_t>(70, kBufferBytes - offset);
    HY_ASSERT_OK_AND_ASSIGN(hal::Mapping map,
                            one.buffer.Map(offset, count, HY_MAP_WRITE | HY_MAP_DISCARD));
    std::fill_n(static_cast<uint8_t*>(map.data()), count, uint8_t{0x3c});
    std::fill_n(one.bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, uint8_t{0x3c});
    HY_ASSERT_OK(map.Unmap());
    HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByCopy(context, one.buffer, 0, kBufferBytes));
    ASSERT_EQ(FirstDifference(got, one.bytes), "") << "after DISCARD of 70 bytes at " << offset;
  }
}

HY_DUTY("HAL-MAP-05", AReadMapSeesCompletedWork) {
  HY_ASSERT_OK_AND_ASSIGN(Prepared one, PrepareByCopy(context));
  // The host has looked before, so that a stale view of it exists.
  HY_ASSERT_OK_AND_ASSIGN(const Bytes first, ReadByMap(one.buffer, 0, kBufferBytes));
  ASSERT_EQ(FirstDifference(first, one.bytes), "");
  for (int round = 0; round < 4; ++round) {
    const Bytes fresh = SeededBytes(context.seed() + static_cast<uint64_t>(round) + 1, 513);
    HY_ASSERT_OK(WriteByCopy(context, one.buffer, 333, fresh));
    std::copy(fresh.begin(), fresh.end(), one.bytes.begin() + 333);
    hal::Submission fill;
    fill.Fill(one.buffer, 7000, 33, 0x10u + static_cast<uint32_t>(round), 1);
    HY_ASSERT_OK(RunAndWait(context, std::move(fill)));
    std::fill_n(one.bytes.begin() + 7000, 33, static_cast<uint8_t>(0x10 + round));
    HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(one.buffer, 0, kBufferBytes));
    ASSERT_EQ(FirstDifference(got, one.bytes), "") << "round " << round;
  }
}

HY_DUTY("HAL-MAP-05", AReadMapSeesEarlierUnmaps) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, kBufferBytes));
  Bytes expected = SeededBytes(context.seed(), kBufferBytes);
  HY_ASSERT_OK(buffer.Write(0, expected));
  HY_ASSERT_OK(buffer.Write(100, Bytes(3, 0x77)));
  std::fill_n(expected.begin() + 100, 3, uint8_t{0x77});
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(buffer, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(got, expected), "");
}

HY_DUTY("HAL-MAP-06", DisjointRangesCanBeMappedAtOnce) {
  HY_ASSERT_OK_AND_ASSIGN(Prepared one, PrepareByCopy(context));
  // All within one granule, and ended in another order than begun.
  std::vector<hal::Mapping> maps;
  for (uint64_t i = 0; i < 8; ++i) {
    HY_ASSERT_OK_AND_ASSIGN(hal::Mapping map, one.buffer.Map(i * 8, 8, HY_MAP_WRITE));
    maps.push_back(std::move(map));
  }
  for (uint64_t i = 0; i < 8; ++i) {
    std::fill_n(static_cast<uint8_t*>(maps[static_cast<size_t>(i)].data()), 8,
                static_cast<uint8_t>(0xb0 + i));
    std::fill_n(one.bytes.begin() + static_cast<std::ptrdiff_t>(i * 8), 8,
                static_cast<uint8_t>(0xb0 + i));
  }
  for (const size_t i : {3u, 0u, 7u, 1u, 2u, 6u, 5u, 4u}) HY_ASSERT_OK(maps[i].Unmap());
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByCopy(context, one.buffer, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(got, one.bytes), "");
}

HY_DUTY("HAL-MAP-07", WhatWasWrittenIsSeenByLaterWork) {
  HY_ASSERT_OK_AND_ASSIGN(Prepared one, PrepareByCopy(context));
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer other, NewBuffer(context, kBufferBytes));
  for (int round = 0; round < 4; ++round) {
    const uint64_t offset = static_cast<uint64_t>(round) * 1111;
    HY_ASSERT_OK_AND_ASSIGN(hal::Mapping map, one.buffer.Map(offset, 777, HY_MAP_WRITE));
    const Bytes fresh = SeededBytes(context.seed() + 100 + static_cast<uint64_t>(round), 777);
    std::copy(fresh.begin(), fresh.end(), static_cast<uint8_t*>(map.data()));
    std::copy(fresh.begin(), fresh.end(), one.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    HY_ASSERT_OK(map.Unmap());
    // Device to device, so that the host's view plays no part.
    hal::Submission copy;
    copy.Copy(one.buffer, 0, other, 0, kBufferBytes);
    HY_ASSERT_OK(RunAndWait(context, std::move(copy)));
    HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByCopy(context, other, 0, kBufferBytes));
    ASSERT_EQ(FirstDifference(got, one.bytes), "") << "round " << round;
  }
}

DutyTable MapDuties() {
  static constexpr DutyTest kTests[] = {
      ThePointerIsThatOfTheOffset,       WritesLandAtTheOffset,
      RangesOutsideAreRefused,           ThePortRefusesRangesOutside,
      AMapWithoutWriteWritesNothingBack, DiscardLeavesTheNeighboursAlone,
      AReadMapSeesCompletedWork,         AReadMapSeesEarlierUnmaps,
      DisjointRangesCanBeMappedAtOnce,   WhatWasWrittenIsSeenByLaterWork};
  return kTests;
}

}  // namespace halyard::conformance
