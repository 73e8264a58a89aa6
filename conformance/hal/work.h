// SPDX-License-Identifier: Apache-2.0
//
// What duty tests share: bytes that tell where they came from, work to wait for, guarded structs.
#ifndef HALYARD_CONFORMANCE_HAL_WORK_H_
#define HALYARD_CONFORMANCE_HAL_WORK_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "conformance/hal/duty.h"

namespace halyard::conformance {

// The status itself is the message: GoogleTest would print the name of a temporary first.
#define HY_EXPECT_OK(expression)                                                     \
  do {                                                                               \
    const absl::Status hy_checked_ = (expression);                                   \
    if (!hy_checked_.ok()) ADD_FAILURE() << #expression << " gives " << hy_checked_; \
  } while (false)

#define HY_ASSERT_OK(expression)                                                    \
  do {                                                                              \
    const absl::Status hy_checked_ = (expression);                                  \
    if (!hy_checked_.ok()) GTEST_FAIL() << #expression << " gives " << hy_checked_; \
  } while (false)

#define HY_ASSERT_OK_AND_ASSIGN(target, expression) \
  HY_ASSERT_OK_AND_ASSIGN_IMPL_(HY_CONFORMANCE_NAME_(hy_or_, __LINE__), target, expression)
#define HY_ASSERT_OK_AND_ASSIGN_IMPL_(temporary, target, expression)                   \
  auto temporary = (expression);                                                       \
  if (!temporary.ok()) GTEST_FAIL() << #expression << " gives " << temporary.status(); \
  target = *std::move(temporary)
#define HY_CONFORMANCE_NAME_INNER_(a, b) a##b
#define HY_CONFORMANCE_NAME_(a, b) HY_CONFORMANCE_NAME_INNER_(a, b)

/// `HY_EXPECT_STATUS(call, HY_NOT_FOUND)` on hy_status; prints names.
#define HY_EXPECT_STATUS(expression, expected)                                                  \
  do {                                                                                          \
    const hy_status hy_checked_ = (expression);                                                 \
    EXPECT_EQ(hy_checked_, expected) << #expression << " gives " << hy_status_name(hy_checked_) \
                                     << ", expected " << hy_status_name(expected);              \
  } while (false)

/// One of two statuses, where hal.h leaves the choice.
#define HY_EXPECT_REFUSED(expression, one, other)                                   \
  do {                                                                              \
    const hy_status hy_checked_ = (expression);                                     \
    EXPECT_TRUE(hy_checked_ == (one) || hy_checked_ == (other))                     \
        << #expression << " gives " << hy_status_name(hy_checked_) << ", expected " \
        << hy_status_name(one) << " or " << hy_status_name(other);                  \
  } while (false)

using Bytes = std::vector<uint8_t>;

/// Bytes that depend on the seed and on their place; no two neighbouring ranges are alike.
Bytes SeededBytes(uint64_t seed, size_t count);

/// Numbers from a seed: SplitMix64, the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  uint64_t Below(uint64_t limit) { return Next() % limit; }

 private:
  uint64_t state_;
};

/// "byte 17 is 0x00, expected 0x5a (3 bytes differ)"; empty if equal.
std::string FirstDifference(const Bytes& got, const Bytes& expected);

/// An absolute CLOCK_MONOTONIC time from now, scaled for the machine.
uint64_t DeadlineIn(HalContext& context, double seconds);

/// Submits to a queue of its own and waits. DEADLINE_EXCEEDED after five seconds.
absl::Status RunAndWait(HalContext& context, hal::Submission submission);

/// The bytes by a copy, and by a map: two ways that must agree.
absl::Status WriteByCopy(HalContext& context, const hal::Buffer& buffer, uint64_t offset,
                         const Bytes& bytes);
absl::StatusOr<Bytes> ReadByCopy(HalContext& context, const hal::Buffer& buffer, uint64_t offset,
                                 uint64_t count);
absl::StatusOr<Bytes> ReadByMap(const hal::Buffer& buffer, uint64_t offset, uint64_t count);

/// A buffer of the first memory class, or of one.
absl::StatusOr<hal::Buffer> NewBuffer(HalContext& context, uint64_t bytes,
                                      uint32_t memory_class = HY_ID_NONE);

/// The memory class of an id; nullptr if the device lists none such.
const hy_memory_class* FindClass(HalContext& context, uint32_t id);

/// A struct with struct_size set, for calls of the table.
template <typename T>
T Sized() {
  T record;
  std::memset(&record, 0, sizeof record);
  record.struct_size = sizeof record;
  return record;
}

hy_alloc_desc RawAlloc(uint64_t bytes);

/// A raw buffer, released at the end of the scope.
class RawBuffer {
 public:
  RawBuffer(HalContext& context, uint64_t bytes);
  ~RawBuffer();
  RawBuffer(const RawBuffer&) = delete;
  RawBuffer& operator=(const RawBuffer&) = delete;
  hy_buffer* get() const { return buffer_; }

 private:
  const hy_hal_api& api_;
  hy_buffer* buffer_ = nullptr;
};

/// An hy_array over a vector; for input.
template <typename T>
hy_array ArrayOf(std::vector<T>& items) {
  const auto count = static_cast<uint32_t>(items.size());
  return {items.empty() ? nullptr : items.data(), count, count, sizeof(T), 0};
}

/// A page that ends at one that cannot be touched: a read or write past `end()` kills the child.
class GuardedPage {
 public:
  GuardedPage();
  ~GuardedPage();
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  bool ok() const { return base_ != nullptr; }
  /// Place for `bytes`, the last of which lies at the guard or, for alignment, just before it.
  void* Before(size_t bytes, size_t alignment = 8) const;

 private:
  uint8_t* base_ = nullptr;
  size_t page_bytes_ = 0;
};

/// Uses every verb that the port can do, right and wrong ones, on a device of its own or on the one
/// that is open. For duties about what must not happen meanwhile.
absl::Status UseEverything(HalContext& context, const hal::Device& device);

/// Runs `body` on a thread of its own and joins it.
void OnNewThread(absl::FunctionRef<void()> body);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_HAL_WORK_H_
