// SPDX-License-Identifier: Apache-2.0
//
// Work of each group of verbs, for runs in which the n-th call fails.
#include <atomic>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kBytes = 10'000;

absl::StatusOr<hal::Buffer> Allocate(const hal::Device& device) {
  hal::AllocRequest request;
  request.bytes = kBytes;
  return device.Allocate(request);
}

absl::Status Expect(const Bytes& got, const Bytes& expected) {
  if (got == expected) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("wrong bytes: ", FirstDifference(got, expected)));
}

absl::Status OpenAndAsk(HalContext& context) {
  HY_ASSIGN_OR_RETURN(hal::Device device, context.OpenAgain());
  HY_RETURN_IF_ERROR(device.ReadTopology().status());
  HY_RETURN_IF_ERROR(device.QueryU64(HY_QUERY_CAPS).status());
  return device.Now().status();
}

absl::Status AllocateAndMap(HalContext& context) {
  HY_ASSIGN_OR_RETURN(hal::Device device, context.OpenAgain());
  HY_ASSIGN_OR_RETURN(hal::Buffer first, Allocate(device));
  HY_ASSIGN_OR_RETURN(hal::Buffer second, Allocate(device));
  const Bytes bytes = SeededBytes(context.seed(), kBytes);
  HY_RETURN_IF_ERROR(first.Write(0, bytes));
  HY_ASSIGN_OR_RETURN(hal::Mapping map, second.Map(5, 100, HY_MAP_WRITE | HY_MAP_DISCARD));
  std::memset(map.data(), 7, 100);
  HY_RETURN_IF_ERROR(map.Unmap());
  Bytes got(kBytes);
  HY_RETURN_IF_ERROR(first.Read(0, absl::MakeSpan(got)));
  return Expect(got, bytes);
}

absl::Status ImportMemory(HalContext& context) {
  static uint8_t memory[kBytes];
  int released = 0;
  absl::Status result;
  {
    HY_ASSIGN_OR_RETURN(hal::Device device, context.OpenAgain());
    // By pointer: the callback comes after this scope's objects are gone.
    absl::StatusOr<hal::Buffer> buffer =
        device.ImportHost(memory, sizeof memory, false, [&released] { ++released; });
    result = buffer.status();
    Bytes got(kBytes);
    if (buffer.ok()) result = buffer->Read(0, absl::MakeSpan(got));
    if (!buffer.ok() && released != 0) {
      return absl::InternalError("on_release of an import that failed");
    }
    if (!buffer.ok()) return result;
  }
  if (released != 1)
    return absl::InternalError(absl::StrCat("on_release came ", released, " times"));
  return result;
}

absl::Status SubmitWork(HalContext& context) {
  HY_ASSIGN_OR_RETURN(hal::Device device, context.OpenAgain());
  HY_ASSIGN_OR_RETURN(hal::Buffer a, Allocate(device));
  HY_ASSIGN_OR_RETURN(hal::Buffer b, Allocate(device));
  HY_ASSIGN_OR_RETURN(hal::Queue queue, device.CreateQueue());
  HY_ASSIGN_OR_RETURN(hal::Fence fence, device.CreateFence());
  const Bytes bytes = SeededBytes(context.seed(), kBytes);
  Bytes got(kBytes);
  hal::Submission in, out;
  in.CopyToDevice(bytes.data(), a, 0, kBytes).Copy(a, 0, b, 0, kBytes).Signal(fence, 1);
  out.WaitFor(fence, 1).CopyToHost(b, 0, got.data(), kBytes).Signal(fence, 2);
  const absl::Status submitted = queue.Submit(std::move(in));
  // What is refused is told to nobody else: the next would wait for ever.
  HY_RETURN_IF_ERROR(submitted);
  HY_RETURN_IF_ERROR(queue.Submit(std::move(out)));
  HY_RETURN_IF_ERROR(fence.Wait(2, DeadlineIn(context, 3)));
  return Expect(got, bytes);
}

absl::Status SignalAndWait(HalContext& context) {
  HY_ASSIGN_OR_RETURN(hal::Device device, context.OpenAgain());
  HY_ASSIGN_OR_RETURN(hal::Fence a, device.CreateFence());
  HY_ASSIGN_OR_RETURN(hal::Fence b, device.CreateFence(4));
  HY_RETURN_IF_ERROR(a.Signal(3));
  HY_RETURN_IF_ERROR(b.Signal(5));
  const hal::FencePoint points[] = {{&a, 2}, {&b, 5}};
  return device.WaitAll(points, DeadlineIn(context, 3));
}

absl::Status RunTeam(HalContext& context) {
  HY_ASSIGN_OR_RETURN(hal::Device device, context.OpenAgain());
  hal::TeamRequest request;
  request.count = 2;
  request.allow_oversubscription = true;
  HY_ASSIGN_OR_RETURN(hal::Team team, device.CreateTeam(request));
  std::atomic<int> ran{0};
  HY_RETURN_IF_ERROR(team.Run([&](uint32_t, uint32_t) { ++ran; }));
  if (ran != 2) return absl::InternalError(absl::StrCat(ran.load(), " of 2 workers ran"));
  return team.Readback().status();
}

}  // namespace

std::vector<FaultScenario> AllFaultScenarios() {
  static constexpr FaultScenario kScenarios[] = {
      {"OpenAndAsk", "HAL-ERR-04", &OpenAndAsk},
      {"AllocateAndMap", "HAL-ERR-04", &AllocateAndMap},
      {"ImportMemory", "HAL-ERR-04", &ImportMemory},
      {"SubmitWork", "HAL-ERR-04", &SubmitWork},
      {"SignalAndWait", "HAL-ERR-04", &SignalAndWait},
      {"RunTeam", "HAL-ERR-04", &RunTeam},
  };
  return {std::begin(kScenarios), std::end(kScenarios)};
}

}  // namespace halyard::conformance
