// SPDX-License-Identifier: Apache-2.0
//
// HAL-QRY: questions and answers, at the table itself.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

constexpr uint32_t kDeviceKeys[] = {
    HY_QUERY_CAPS,          HY_QUERY_MEMORY_CLASSES, HY_QUERY_PAGE_SIZES,   HY_QUERY_SYNC_GRANULE,
    HY_QUERY_MIN_ALIGNMENT, HY_QUERY_MAX_ALLOC,      HY_QUERY_QUEUE_TIER,   HY_QUERY_TIMESTAMP_HZ,
    HY_QUERY_VENDOR,        HY_QUERY_DRIVER,         HY_QUERY_NATIVE_HANDLE};
constexpr uint32_t kNeededKeys[] = {HY_QUERY_CAPS, HY_QUERY_MEMORY_CLASSES, HY_QUERY_MIN_ALIGNMENT,
                                    HY_QUERY_MAX_ALLOC, HY_QUERY_VENDOR};

hy_query_desc Ask(HalContext& context, uint32_t key) {
  hy_query_desc desc = Sized<hy_query_desc>();
  desc.kind = HY_KIND_DEVICE;
  desc.handle = context.raw_device();
  desc.key = key;
  if (key == HY_QUERY_MEMORY_CLASSES) desc.stride = sizeof(hy_memory_class);
  return desc;
}

// The answer in whole; nothing if the key is not answered.
std::optional<Bytes> Answer(HalContext& context, uint32_t key) {
  const hy_query_desc desc = Ask(context, key);
  uint64_t bytes = 0;
  if (context.api().query(&desc, nullptr, &bytes) != HY_OK) return std::nullopt;
  Bytes answer(static_cast<size_t>(bytes));
  if (context.api().query(&desc, answer.data(), &bytes) != HY_OK) return std::nullopt;
  answer.resize(static_cast<size_t>(bytes));
  return answer;
}

uint64_t Number(HalContext& context, uint32_t key) {
  uint64_t value = 0;
  HY_EXPECT_STATUS(hy_query_u64(&context.api(), HY_KIND_DEVICE, context.raw_device(), key, &value),
                   HY_OK);
  return value;
}

bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

HY_DUTY("HAL-QRY-01", TheNeededKeysAreAnswered) {
  for (const uint32_t key : kNeededKeys) {
    const std::optional<Bytes> answer = Answer(context, key);
    ASSERT_TRUE(answer.has_value()) << "key " << key;
    EXPECT_FALSE(answer->empty()) << "key " << key;
  }
  for (const uint32_t key : {HY_QUERY_CAPS, HY_QUERY_MIN_ALIGNMENT, HY_QUERY_MAX_ALLOC}) {
    EXPECT_EQ(Answer(context, key)->size(), sizeof(uint64_t)) << "key " << key;
  }
  const std::optional<Bytes> vendor = Answer(context, HY_QUERY_VENDOR);
  EXPECT_EQ(vendor->back(), 0) << "the vendor's name is not NUL-terminated";
  EXPECT_GT(vendor->size(), 1u) << "the vendor's name is empty";
  const std::optional<Bytes> classes = Answer(context, HY_QUERY_MEMORY_CLASSES);
  EXPECT_EQ(classes->size() % sizeof(hy_memory_class), 0u);
}

HY_DUTY("HAL-QRY-02", UnknownKeysWriteNothing) {
  for (const uint32_t key : {0u, 15u, 99u, 0x10000u, UINT32_MAX}) {
    const hy_query_desc desc = Ask(context, key);
    Bytes buffer(64, 0xab);
    uint64_t bytes = buffer.size();
    HY_EXPECT_STATUS(context.api().query(&desc, buffer.data(), &bytes), HY_UNIMPLEMENTED);
    EXPECT_EQ(FirstDifference(buffer, Bytes(64, 0xab)), "") << "key " << key;
    HY_EXPECT_STATUS(context.api().query(&desc, nullptr, &bytes), HY_UNIMPLEMENTED);
  }
  hy_query_desc desc = Ask(context, HY_QUERY_EXTENSION);
  desc.name = "no.such.extension";
  Bytes buffer(64, 0xab);
  uint64_t bytes = buffer.size();
  HY_EXPECT_STATUS(context.api().query(&desc, buffer.data(), &bytes), HY_UNIMPLEMENTED);
  EXPECT_EQ(FirstDifference(buffer, Bytes(64, 0xab)), "");
}

HY_DUTY("HAL-QRY-02", KeysOfAnotherKindAreRefused, .in_validate = false) {
  const RawBuffer buffer(context, 100);
  hy_query_desc desc = Ask(context, HY_QUERY_CAPS);
  desc.kind = HY_KIND_BUFFER;
  desc.handle = buffer.get();
  Bytes answer(64, 0xab);
  for (const uint32_t key : {HY_QUERY_CAPS, HY_QUERY_VENDOR, HY_QUERY_MEMORY_CLASSES}) {
    desc.key = key;
    uint64_t bytes = answer.size();
    HY_EXPECT_REFUSED(context.api().query(&desc, answer.data(), &bytes), HY_INVALID_ARGUMENT,
                      HY_UNIMPLEMENTED);
  }
  desc = Ask(context, HY_QUERY_PLACEMENT);
  uint64_t bytes = answer.size();
  HY_EXPECT_REFUSED(context.api().query(&desc, answer.data(), &bytes), HY_INVALID_ARGUMENT,
                    HY_UNIMPLEMENTED);
  for (const uint32_t kind : {0u, 6u, 99u}) {
    desc = Ask(context, HY_QUERY_CAPS);
    desc.kind = kind;
    HY_EXPECT_REFUSED(context.api().query(&desc, answer.data(), &bytes), HY_INVALID_ARGUMENT,
                      HY_UNIMPLEMENTED);
  }
  EXPECT_EQ(FirstDifference(answer, Bytes(64, 0xab)), "");
}

HY_DUTY("HAL-QRY-03", AShortBufferIsToldTheSize) {
  for (const uint32_t key : kDeviceKeys) {
    const std::optional<Bytes> answer = Answer(context, key);
    if (!answer.has_value()) continue;
    const hy_query_desc desc = Ask(context, key);
    for (const size_t room : {size_t{0}, size_t{1}, answer->size() - 1}) {
      if (room >= answer->size()) continue;
      Bytes buffer(answer->size() + 8, 0xcd);
      uint64_t bytes = room;
      HY_EXPECT_STATUS(context.api().query(&desc, buffer.data(), &bytes), HY_OUT_OF_RANGE);
      EXPECT_EQ(bytes, answer->size()) << "key " << key << ", room for " << room;
      EXPECT_EQ(FirstDifference(buffer, Bytes(buffer.size(), 0xcd)), "") << "key " << key;
    }
    Bytes buffer(answer->size() + 8, 0xcd);
    uint64_t bytes = buffer.size();
    HY_EXPECT_STATUS(context.api().query(&desc, buffer.data(), &bytes), HY_OK);
    EXPECT_EQ(bytes, answer->size()) << "a long buffer is told the size of the answer";
    EXPECT_EQ(FirstDifference(Bytes(buffer.end() - 8, buffer.end()), Bytes(8, 0xcd)), "")
        << "key " << key << " writes beyond its answer";
  }
}

HY_DUTY("HAL-QRY-04", AnswersDoNotChange) {
  std::vector<std::pair<uint32_t, std::optional<Bytes>>> first;
  for (const uint32_t key : kDeviceKeys) first.emplace_back(key, Answer(context, key));
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, 100'000));
  for (const auto& [key, answer] : first) EXPECT_EQ(Answer(context, key), answer) << "key " << key;
}

HY_DUTY("HAL-QRY-05", AnswersFitTogether) {
  const uint64_t caps = Number(context, HY_QUERY_CAPS);
  constexpr uint64_t kKnownCaps = HY_CAP_COHERENT | HY_CAP_PERSISTENT_MAP | HY_CAP_IMPORT |
                                  HY_CAP_NODE_POLICY | HY_CAP_PAGE_POLICY | HY_CAP_ASYNC |
                                  HY_CAP_REOPEN;
  EXPECT_EQ(caps & ~kKnownCaps, 0u) << "capability bits that ABI 1.0 does not have";
  const uint64_t least = Number(context, HY_QUERY_MIN_ALIGNMENT);
  EXPECT_TRUE(IsPowerOfTwo(least)) << least;
  EXPECT_GE(Number(context, HY_QUERY_MAX_ALLOC), 1u);
  const std::vector<hy_memory_class>& classes = context.device().memory_classes();
  ASSERT_FALSE(classes.empty());
  std::set<uint32_t> ids;
  for (const hy_memory_class& one : classes) {
    EXPECT_TRUE(ids.insert(one.id).second) << "class id " << one.id << " is there twice";
    EXPECT_NE(one.id, HY_ID_NONE);
    EXPECT_TRUE(one.min_alignment == 0 || IsPowerOfTwo(one.min_alignment)) << one.min_alignment;
    EXPECT_NE(std::find(std::begin(one.name), std::end(one.name), '\0'), std::end(one.name));
    constexpr uint64_t kKnownFlags =
        HY_MEMORY_HOST_VISIBLE | HY_MEMORY_COHERENT | HY_MEMORY_DEVICE_LOCAL | HY_MEMORY_SCRATCH;
    EXPECT_EQ(one.flags & ~kKnownFlags, 0u);
    if ((caps & HY_CAP_COHERENT) != 0 && (one.flags & HY_MEMORY_HOST_VISIBLE) != 0) {
      EXPECT_NE(one.flags & HY_MEMORY_COHERENT, 0u)
          << "the device says COHERENT, its class " << one.id << " does not";
    }
    if (context.api().map == nullptr) {
      EXPECT_EQ(one.flags & HY_MEMORY_HOST_VISIBLE, 0u) << "host-visible, but there is no map";
    }
  }
  if (context.api().map == nullptr) {
    EXPECT_EQ(caps & HY_CAP_PERSISTENT_MAP, 0u);
  }
  if (context.api().import_host == nullptr) {
    EXPECT_EQ(caps & HY_CAP_IMPORT, 0u);
  }
  const std::optional<Bytes> tier = Answer(context, HY_QUERY_QUEUE_TIER);
  if (tier.has_value()) {
    const uint64_t value = Number(context, HY_QUERY_QUEUE_TIER);
    EXPECT_LE(value, static_cast<uint64_t>(HY_QUEUE_TIER_ASYNC));
    if (value == HY_QUEUE_TIER_ASYNC) {
      EXPECT_NE(context.api().fence_create, nullptr) << "tier 1 observes fences: it needs its own";
      EXPECT_NE(context.api().queue_create, nullptr);
    }
  }
  if (Answer(context, HY_QUERY_SYNC_GRANULE).has_value()) {
    const uint64_t granule = Number(context, HY_QUERY_SYNC_GRANULE);
    EXPECT_TRUE(IsPowerOfTwo(granule)) << granule;
    if ((caps & HY_CAP_COHERENT) != 0) {
      EXPECT_EQ(granule, 1u);
    }
  }
  const std::vector<uint64_t> pages = context.device().page_sizes();
  EXPECT_TRUE(std::is_sorted(pages.begin(), pages.end()));
  for (const uint64_t page : pages) EXPECT_TRUE(IsPowerOfTwo(page)) << page;
}

DutyTable QueryDuties() {
  static constexpr DutyTest kTests[] = {TheNeededKeysAreAnswered,    UnknownKeysWriteNothing,
                                        KeysOfAnotherKindAreRefused, AShortBufferIsToldTheSize,
                                        AnswersDoNotChange,          AnswersFitTogether};
  return kTests;
}

}  // namespace halyard::conformance
