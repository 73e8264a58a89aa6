// SPDX-License-Identifier: Apache-2.0
#include "hal/bind.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

// The kernel's masks are arrays of its `long`, which differs from 64-bit words on 32-bit and
// big-endian machines; glibc's cpu_set_t ends at 1,024 units. Hence raw calls on longs.
using KernelWord = unsigned long;
constexpr uint32_t kWordBits = sizeof(KernelWord) * CHAR_BIT;
constexpr uint32_t kMaxUnits = 65'536;

constexpr uint32_t kFirstMaskWords = 128;  // 8,192 units: as many as any kernel is built for

struct SavedMask {
  bool entered = false;
  std::vector<uint32_t> units;
};
thread_local SavedMask t_saved;

hy_status StatusOfErrno(int error) {
  switch (error) {
    case EINVAL:
      return HY_NOT_FOUND;  // no unit of the mask is online and in the cpuset
    case EPERM:
    case EACCES:
      return HY_PERMISSION_DENIED;
    default:
      return HY_UNIMPLEMENTED;
  }
}

hy_status SetThisThreadMask(const std::vector<uint32_t>& units) {
  if (units.empty() || units.back() >= kMaxUnits) return HY_NOT_FOUND;
  std::vector<KernelWord> words(units.back() / kWordBits + 1, 0);
  for (const uint32_t unit : units) words[unit / kWordBits] |= KernelWord{1} << (unit % kWordBits);
  const size_t bytes = words.size() * sizeof(KernelWord);
  return syscall(SYS_sched_setaffinity, 0, bytes, words.data()) == 0 ? HY_OK : StatusOfErrno(errno);
}

hy_status Enter(uint32_t pu) {
  const absl::StatusOr<std::vector<uint32_t>> before = ThisThreadMask();
  if (!before.ok()) return FromStatus(before.status());
  const hy_status status = SetThisThreadMask({pu});
  if (status != HY_OK) return status;
  const absl::StatusOr<std::vector<uint32_t>> after = ThisThreadMask();
  if (!after.ok() || *after != std::vector<uint32_t>{pu}) {
    SetThisThreadMask(*before);  // said yes and did something else
    return HY_UNIMPLEMENTED;
  }
  // A second ENTER moves the thread; LEAVE still leads back to where it was before the first.
  if (!t_saved.entered) t_saved = {true, *before};
  return HY_OK;
}

hy_status Leave() {
  if (!t_saved.entered) return HY_INVALID_ARGUMENT;
  const hy_status status = SetThisThreadMask(t_saved.units);
  if (status == HY_OK) t_saved = {};
  return status;
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> ThisThreadMask() {
  for (size_t words = 16; words <= kMaxUnits / kWordBits; words *= 2) {
    std::vector<KernelWord> mask(words, 0);
    const long bytes = syscall(SYS_sched_getaffinity, 0, words * sizeof(KernelWord), mask.data());
    if (bytes < 0 && errno == EINVAL) continue;  // shorter than the kernel's
    if (bytes < 0) break;
    std::vector<uint32_t> units;
    for (uint32_t unit = 0; unit < words * kWordBits; ++unit) {
      if (((mask[unit / kWordBits] >> (unit % kWordBits)) & 1) != 0) units.push_back(unit);
    }
    return units;
  }
  return absl::UnimplementedError("the system does not tell this thread's affinity mask");
}

void ReadBackThisThread(WorkerReport* out_report) {
  out_report->flags = 0;
  out_report->mask.clear();
  out_report->last_pu = HY_ID_NONE;
  out_report->node_id = HY_ID_NONE;
  if (absl::StatusOr<std::vector<uint32_t>> mask = ThisThreadMask(); mask.ok()) {
    out_report->mask = *std::move(mask);
    out_report->flags |= HY_WORKER_MASK_KNOWN;
    if (out_report->mask == std::vector<uint32_t>{out_report->requested_pu}) {
      out_report->flags |= HY_WORKER_BOUND;
    }
  }
  unsigned pu = 0;
  unsigned node = 0;
  if (syscall(SYS_getcpu, &pu, &node, nullptr) == 0) {
    out_report->last_pu = pu;
    out_report->node_id = node;
    out_report->flags |= HY_WORKER_PU_KNOWN;
  }
  out_report->isa = LiveIsa();
}

hy_status BindThisThread(uint32_t pu, uint32_t mode, hy_worker_report* inout_report) {
  if (mode != HY_BIND_ENTER && mode != HY_BIND_LEAVE) return HY_INVALID_ARGUMENT;
  hy_worker_report given;
  if (mode == HY_BIND_ENTER || inout_report != nullptr) {
    const hy_status read = hy_read_struct(&given, sizeof given, inout_report);
    if (read != HY_OK) return read;
  }
  const hy_status status = mode == HY_BIND_ENTER ? Enter(pu) : Leave();
  if (inout_report == nullptr) return status;
  WorkerReport report;
  report.index = given.index;
  report.requested_pu = pu;
  report.bind_status = status;
  ReadBackThisThread(&report);
  ExportReport(report, inout_report);
  return status;
}

absl::Status CallWithReport(absl::FunctionRef<hy_status(hy_worker_report*)> verb,
                            WorkerReport* out_report) {
  std::vector<uint64_t> words(kFirstMaskWords);
  hy_worker_report raw;
  hy_status status = HY_OK;
  for (;;) {
    raw = {};
    raw.struct_size = sizeof raw;
    raw.index = out_report->index;
    raw.requested_pu = out_report->requested_pu;
    raw.last_pu = raw.node_id = HY_ID_NONE;
    raw.mask = words.data();
    raw.mask_capacity = static_cast<uint32_t>(words.size());
    std::fill(words.begin(), words.end(), 0);
    status = verb(&raw);
    if (raw.mask_words <= words.size() || words.size() >= kMaxUnits / 64) break;
    words.resize(std::min(raw.mask_words, kMaxUnits / 64));
  }
  out_report->last_pu = raw.last_pu;
  out_report->node_id = raw.node_id;
  out_report->bind_status = status;
  out_report->flags = raw.flags;
  out_report->isa = {raw.isa[0], raw.isa[1]};
  out_report->scratch = raw.scratch;
  out_report->scratch_bytes = raw.scratch_bytes;
  out_report->mask.clear();
  const uint32_t units = 64 * std::min(raw.mask_words, static_cast<uint32_t>(words.size()));
  for (uint32_t unit = 0; unit < units; ++unit) {
    if (((words[unit / 64] >> (unit % 64)) & 1) != 0) out_report->mask.push_back(unit);
  }
  return ToStatus(status, absl::StrCat("binding to unit ", out_report->requested_pu, " failed"));
}

void ExportReport(const WorkerReport& report, hy_worker_report* inout_report) {
  hy_worker_report given;
  if (hy_read_struct(&given, sizeof given, inout_report) != HY_OK) return;
  hy_worker_report raw = {};
  raw.index = report.index;
  raw.requested_pu = report.requested_pu;
  raw.last_pu = report.last_pu;
  raw.node_id = report.node_id;
  raw.bind_status = report.bind_status;
  raw.flags = report.flags;
  raw.mask = given.mask;
  raw.mask_capacity = given.mask == nullptr ? 0 : given.mask_capacity;
  raw.mask_words = report.mask.empty() ? 0 : report.mask.back() / 64 + 1;
  raw.isa[0] = report.isa[0];
  raw.isa[1] = report.isa[1];
  raw.scratch = report.scratch;
  raw.scratch_bytes = report.scratch_bytes;
  std::fill_n(raw.mask, std::min(raw.mask_words, raw.mask_capacity), 0);
  for (const uint32_t unit : report.mask) {
    if (unit / 64 < raw.mask_capacity) raw.mask[unit / 64] |= UINT64_C(1) << (unit % 64);
  }
  raw.mask_capacity = given.mask_capacity;
  hy_write_struct(inout_report, &raw, sizeof raw);
}

}  // namespace halyard::hal
