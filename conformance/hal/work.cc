// SPDX-License-Identifier: Apache-2.0
#include "conformance/hal/work.h"

#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "absl/strings/str_format.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"

namespace halyard::conformance {
namespace {

constexpr double kWorkSeconds = 5;

absl::Status UseMemory(HalContext& context, const hal::Device& device) {
  hal::AllocRequest request;
  request.bytes = 10'000;
  HY_ASSIGN_OR_RETURN(hal::Buffer buffer, device.Allocate(request));
  const Bytes bytes = SeededBytes(context.seed(), 10'000);
  HY_RETURN_IF_ERROR(buffer.Write(0, bytes));
  Bytes back(bytes.size());
  HY_RETURN_IF_ERROR(buffer.Read(0, absl::MakeSpan(back)));
  if (back != bytes) return absl::DataLossError(FirstDifference(back, bytes));
  request.bytes = 0;
  static_cast<void>(device.Allocate(request).status());
  static_cast<void>(buffer.Map(9'999, 2, HY_MAP_READ).status());
  static_cast<void>(buffer.QueryPlacement().status());
  alignas(64) static uint8_t memory[4096];
  return device.ImportHost(memory, sizeof memory, false).status();
}

absl::Status UseQueue(HalContext& context, const hal::Device& device) {
  hal::AllocRequest request;
  request.bytes = 4'096;
  HY_ASSIGN_OR_RETURN(hal::Buffer buffer, device.Allocate(request));
  HY_ASSIGN_OR_RETURN(hal::Queue queue, device.CreateQueue());
  HY_ASSIGN_OR_RETURN(hal::Fence fence, device.CreateFence());
  Bytes back(4'096);
  hal::Submission work;
  work.Fill(buffer, 0, 4'096, 0x5a5a5a5a, 4).CopyToHost(buffer, 0, back.data(), back.size());
  work.Signal(fence, 1);
  HY_RETURN_IF_ERROR(queue.Submit(std::move(work)));
  return fence.Wait(1, DeadlineIn(context, kWorkSeconds));
}

absl::Status UseTeam(const hal::Device& device) {
  hal::TeamRequest request;
  request.count = 1;
  HY_ASSIGN_OR_RETURN(hal::Team team, device.CreateTeam(request));
  HY_RETURN_IF_ERROR(team.Run([](uint32_t, uint32_t) {}));
  return team.Readback().status();
}

}  // namespace

uint64_t Random::Next() {
  state_ += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t value = state_;
  value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  return value ^ (value >> 31);
}

Bytes SeededBytes(uint64_t seed, size_t count) {
  Random random(seed);
  Bytes bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Next() >> 24);
  return bytes;
}

std::string FirstDifference(const Bytes& got, const Bytes& expected) {
  if (got.size() != expected.size()) {
    return absl::StrFormat("%u bytes, expected %u", got.size(), expected.size());
  }
  size_t first = got.size(), count = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return "";
  return absl::StrFormat("byte %u is 0x%02x, expected 0x%02x (%u of %u bytes differ)", first,
                         got[first], expected[first], count, got.size());
}

uint64_t DeadlineIn(HalContext& context, double seconds) {
  return MonotonicNs() + static_cast<uint64_t>(seconds * context.time_scale() * 1e9);
}

absl::Status RunAndWait(HalContext& context, hal::Submission submission) {
  HY_ASSIGN_OR_RETURN(hal::Queue queue, context.device().CreateQueue());
  HY_ASSIGN_OR_RETURN(hal::Fence fence, context.device().CreateFence());
  submission.Signal(fence, 1);
  HY_RETURN_IF_ERROR(queue.Submit(std::move(submission)));
  return fence.Wait(1, DeadlineIn(context, kWorkSeconds));
}

absl::Status WriteByCopy(HalContext& context, const hal::Buffer& buffer, uint64_t offset,
                         const Bytes& bytes) {
  hal::Submission work;
  work.CopyToDevice(bytes.data(), buffer, offset, bytes.size());
  return RunAndWait(context, std::move(work));
}

absl::StatusOr<Bytes> ReadByCopy(HalContext& context, const hal::Buffer& buffer, uint64_t offset,
                                 uint64_t count) {
  Bytes bytes(static_cast<size_t>(count), 0xee);
  hal::Submission work;
  work.CopyToHost(buffer, offset, bytes.data(), count);
  HY_RETURN_IF_ERROR(RunAndWait(context, std::move(work)));
  return bytes;
}

absl::StatusOr<Bytes> ReadByMap(const hal::Buffer& buffer, uint64_t offset, uint64_t count) {
  HY_ASSIGN_OR_RETURN(hal::Mapping map, buffer.Map(offset, count, HY_MAP_READ));
  const auto* const data = static_cast<const uint8_t*>(map.data());
  Bytes bytes(data, data + count);
  HY_RETURN_IF_ERROR(map.Unmap());
  return bytes;
}

absl::StatusOr<hal::Buffer> NewBuffer(HalContext& context, uint64_t bytes, uint32_t memory_class) {
  hal::AllocRequest request;
  request.bytes = bytes;
  request.memory_class = memory_class;
  return context.device().Allocate(request);
}

const hy_memory_class* FindClass(HalContext& context, uint32_t id) {
  for (const hy_memory_class& one : context.device().memory_classes()) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

hy_alloc_desc RawAlloc(uint64_t bytes) {
  hy_alloc_desc desc = Sized<hy_alloc_desc>();
  desc.memory_class = HY_ID_NONE;
  desc.bytes = bytes;
  return desc;
}

RawBuffer::RawBuffer(HalContext& context, uint64_t bytes) : api_(context.api()) {
  const hy_alloc_desc desc = RawAlloc(bytes);
  const hy_status status = api_.alloc(context.raw_device(), &desc, &buffer_, nullptr);
  EXPECT_EQ(status, HY_OK) << "alloc of " << bytes << " bytes: " << hy_status_name(status);
}

RawBuffer::~RawBuffer() { HY_EXPECT_STATUS(hy_buffer_release(&api_, buffer_), HY_OK); }

GuardedPage::GuardedPage() : page_bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
  void* const pages =
      mmap(nullptr, 2 * page_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  base_ = static_cast<uint8_t*>(pages);
  mprotect(base_ + page_bytes_, page_bytes_, PROT_NONE);
}

GuardedPage::~GuardedPage() {
  if (base_ != nullptr) munmap(base_, 2 * page_bytes_);
}

void* GuardedPage::Before(size_t bytes, size_t alignment) const {
  return base_ + (page_bytes_ - bytes) / alignment * alignment;
}

absl::Status UseEverything(HalContext& context, const hal::Device& device) {
  HY_RETURN_IF_ERROR(UseMemory(context, device));
  HY_RETURN_IF_ERROR(UseQueue(context, device));
  HY_RETURN_IF_ERROR(UseTeam(device));
  HY_RETURN_IF_ERROR(device.ReadTopology(true).status());
  static_cast<void>(device.QueryU64(0x7fffff).status());
  return device.Now().status();
}

void OnNewThread(absl::FunctionRef<void()> body) {
  std::thread([&] { body(); }).join();
}

}  // namespace halyard::conformance
