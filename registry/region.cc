// SPDX-License-Identifier: Apache-2.0
#include "registry/region.h"

#include <algorithm>
#include <limits>
#include <thread>

#include "absl/strings/str_cat.h"

namespace halyard::registry {
namespace {

constexpr size_t kNever = std::numeric_limits<size_t>::max();
constexpr size_t kLineWords = AlignedBlock::kAlignment / sizeof(uint64_t);

bool IsAboutData(hy_status status) {
  return status == HY_OUT_OF_RANGE || status == HY_INVALID_ARGUMENT;
}

}  // namespace

hal::WaitPolicy DefaultWaitPolicy(uint32_t workers) {
  const uint64_t units = std::max(1u, std::thread::hardware_concurrency());
  return hal::ChooseWaitPolicy(workers, units * 1000, 0);
}

Region::Region(const hal::Team* team, hal::WaitPolicy wait)
    : team_(team), barrier_(team->size(), wait) {}

void Region::Clear() {
  items_.clear();
  level_end_.clear();
  notes_.clear();
}

void Region::EndLevel() {
  const size_t begin = level_end_.empty() ? 0 : level_end_.back();
  if (items_.size() > begin) level_end_.push_back(items_.size());
}

absl::Status Region::Finish() {
  size_t begin = 0;
  bank_lines_ = 0;
  for (const size_t end : level_end_) {
    bank_lines_ = std::max(bank_lines_, end - begin);
    begin = end;
  }
  return tickets_.Reserve(2 * bank_lines_ * AlignedBlock::kAlignment);
}

uint64_t* Region::Ticket(size_t level, size_t item) const {
  return reinterpret_cast<uint64_t*>(tickets_.data()) +
         (level % 2 * bank_lines_ + item) * kLineWords;
}

absl::Status Region::Run(size_t first, size_t* next) {
  notes_.clear();
  stop_level_.store(kNever, std::memory_order_relaxed);
  for (size_t line = 0; line < 2 * bank_lines_; ++line) *Ticket(0, line) = 0;
  const absl::Status status =
      team_->Run([this, first](uint32_t index, uint32_t count) { Work(first, index, count); });
  const size_t stop = stop_level_.load(std::memory_order_relaxed);
  *next = stop == kNever ? levels() : stop + 1;
  return status;
}

void Region::Work(size_t first, uint32_t index, uint32_t count) {
  hy_kernel_context context{};
  context.struct_size = sizeof context;
  context.index = index;
  context.count = count;
  for (size_t level = first; level < level_end_.size(); ++level) {
    const size_t begin = level == 0 ? 0 : level_end_[level - 1];
    for (size_t i = begin; i < level_end_[level]; ++i) {
      const Item& item = items_[i];
      context.phase = item.phase;
      context.scratch = item.scratch;
      context.scratch_bytes = item.scratch_bytes;
      context.params = item.params;
      context.ticket = Ticket(level, i - begin);
      const hy_status status = item.run(item.args, &context);
      if (status != HY_OK) Take({item.step, item.phase, index, status}, level);
    }
    if (level + 1 == level_end_.size()) return;
    barrier_.Arrive();
    // Everybody has left this level, and comes to its bank again only after the next barrier.
    for (size_t i = begin; index == 0 && i < level_end_[level]; ++i) *Ticket(level, i - begin) = 0;
    // A level that failed was noted before its barrier; a fast worker may already have noted a later
    // one, which is not for this worker to stop at.
    if (stop_level_.load(std::memory_order_relaxed) <= level) return;
  }
}

void Region::Take(const Note& note, size_t level) {
  std::lock_guard<std::mutex> lock(mutex_);
  notes_.push_back(note);
  if (IsAboutData(note.status)) return;
  stop_level_.store(std::min(stop_level_.load(std::memory_order_relaxed), level),
                    std::memory_order_relaxed);
}

StepResult Judge(absl::Span<const Note> notes, uint32_t step, uint32_t workers) {
  StepResult result;
  uint32_t declined = 0;
  const Note* worst = nullptr;
  const Note* about_data = nullptr;
  const auto before = [](const Note& a, const Note* b) {
    return b == nullptr || a.phase < b->phase || (a.phase == b->phase && a.worker < b->worker);
  };
  for (const Note& note : notes) {
    if (note.step != step) continue;
    if (note.status == HY_UNIMPLEMENTED && note.phase == 0) ++declined;
    const Note*& kept = IsAboutData(note.status) ? about_data : worst;
    if (before(note, kept)) kept = &note;
  }
  if (worst == nullptr && about_data == nullptr) return result;
  const Note& first = worst != nullptr ? *worst : *about_data;
  result.status = first.status;
  result.reason = absl::StrCat("returned ", hy_status_name(first.status), " in phase ", first.phase,
                               " on worker ", first.worker);
  if (worst == nullptr) {
    result.outcome = Outcome::kData;
  } else if (first.status == HY_UNIMPLEMENTED && declined == workers) {
    result.outcome = Outcome::kDeclined;
  } else {
    result.outcome = Outcome::kFailed;
    if (first.status == HY_UNIMPLEMENTED) {
      absl::StrAppend(&result.reason, ", but not on all of ", workers,
                      " before anything was written");
    }
  }
  return result;
}

}  // namespace halyard::registry
