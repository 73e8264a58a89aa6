// SPDX-License-Identifier: Apache-2.0
#include "registry/schedule.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "registry/args.h"

namespace halyard::registry {
namespace {

/// An operand's memory: its extent, for most comparisons, and its form.
struct Access {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  hy_tensor tensor{};
};

struct Accesses {
  std::vector<Access> reads;
  std::vector<Access> writes;
};

Access AccessOf(const hy_tensor& tensor) {
  const auto begin = reinterpret_cast<uintptr_t>(tensor.data);
  // A packed tensor is only read; that its first byte is not written says enough.
  const uint64_t bytes = tensor.layout == HY_LAYOUT_CANONICAL ? ExtentBytes(tensor) : 1;
  return {begin, begin + static_cast<uintptr_t>(bytes), tensor};
}

Accesses AccessesOf(const Call& call) {
  Accesses accesses;
  for (size_t i = 0; i < call.op->operands().size(); ++i) {
    const hy_tensor& tensor = call.op->tensor(i, call.args);
    if (!hy_tensor_present(&tensor) || tensor.data == nullptr) continue;
    const bool writes = (call.op->operands()[i].flags & HY_OPERAND_WRITE) != 0;
    (writes ? accesses.writes : accesses.reads).push_back(AccessOf(tensor));
  }
  return accesses;
}

// Weights make up most operands and are written by nobody: what lies outside of all that is written
// is not compared again and again.
void DropReadsOfConstants(std::vector<Accesses>* calls) {
  uintptr_t begin = std::numeric_limits<uintptr_t>::max();
  uintptr_t end = 0;
  for (const Accesses& call : *calls) {
    for (const Access& write : call.writes) {
      begin = std::min(begin, write.begin);
      end = std::max(end, write.end);
    }
  }
  for (Accesses& call : *calls) {
    call.reads.erase(std::remove_if(call.reads.begin(), call.reads.end(),
                                    [begin, end](const Access& read) {
                                      return read.begin >= end || read.end <= begin;
                                    }),
                     call.reads.end());
  }
}

bool AnyOverlap(const std::vector<Access>& a, const std::vector<Access>& b) {
  for (const Access& x : a) {
    for (const Access& y : b) {
      if (x.begin < y.end && y.begin < x.end && Overlap(x.tensor, y.tensor)) return true;
    }
  }
  return false;
}

bool Depends(const Accesses& later, const Accesses& earlier) {
  return AnyOverlap(later.reads, earlier.writes) || AnyOverlap(later.writes, earlier.writes) ||
         AnyOverlap(later.writes, earlier.reads);
}

/// A set of calls.
class CallSet {
 public:
  explicit CallSet(size_t calls) : words_((calls + 63) / 64) {}
  bool Has(size_t call) const { return (words_[call / 64] >> (call % 64) & 1) != 0; }
  void Add(size_t call) { words_[call / 64] |= uint64_t{1} << (call % 64); }
  void AddAll(const CallSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  std::vector<uint64_t> words_;
};

void PlaceInTime(absl::Span<const ScheduleStep> steps, const Dependencies& dependencies,
                 Schedule* schedule) {
  for (size_t i = 0; i < steps.size(); ++i) {
    size_t first = 0;
    for (const uint32_t j : dependencies[i])
      first = std::max(first, schedule->slots[j].first_level + steps[j].phases);
    schedule->slots.push_back({first, 0});
    schedule->levels = std::max(schedule->levels, first + steps[i].phases);
  }
}

// First fit among those that are alive at the same time.
void PlaceInMemory(absl::Span<const ScheduleStep> steps, Schedule* schedule) {
  struct Taken {
    uint64_t begin;
    uint64_t end;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].bytes == 0) continue;
    std::vector<Taken> taken;
    const size_t first = schedule->slots[i].first_level;
    for (size_t j = 0; j < i; ++j) {
      const size_t other = schedule->slots[j].first_level;
      if (other < first + steps[i].phases && first < other + steps[j].phases)
        taken.push_back({schedule->slots[j].offset, schedule->slots[j].offset + steps[j].bytes});
    }
    std::sort(taken.begin(), taken.end(),
              [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
    uint64_t at = 0;
    for (const Taken& other : taken) {
      if (at + steps[i].bytes <= other.begin) break;
      at = std::max(at, hy_round_up(other.end, 64));
    }
    schedule->slots[i].offset = at;
    schedule->bytes = std::max(schedule->bytes, at + steps[i].bytes);
  }
}

}  // namespace

Dependencies FindDependencies(absl::Span<const Call> calls) {
  std::vector<Accesses> accesses;
  for (const Call& call : calls) accesses.push_back(AccessesOf(call));
  DropReadsOfConstants(&accesses);
  Dependencies dependencies(calls.size());
  std::vector<CallSet> before(calls.size(), CallSet(calls.size()));
  for (size_t i = 0; i < calls.size(); ++i) {
    for (size_t j = i; j-- > 0;) {
      if (before[i].Has(j) || !Depends(accesses[i], accesses[j])) continue;
      dependencies[i].push_back(static_cast<uint32_t>(j));
      before[i].AddAll(before[j]);
      before[i].Add(j);
    }
  }
  return dependencies;
}

Schedule MakeSchedule(absl::Span<const ScheduleStep> steps, const Dependencies& dependencies) {
  Schedule schedule;
  PlaceInTime(steps, dependencies, &schedule);
  PlaceInMemory(steps, &schedule);
  return schedule;
}

}  // namespace halyard::registry
