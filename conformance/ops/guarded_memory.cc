// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/guarded_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "conformance/crumbs.h"

namespace halyard::conformance {
namespace {

constexpr unsigned char kCanary[4] = {0xff, 0xff, 0xff, 0x7f};

uint64_t PageBytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// What the signal handler can read: fixed, and written before a kernel runs.
struct Watched {
  uintptr_t begin, end;  // mapping with guards
  uintptr_t base, base_end;
  char name[48];
};
constexpr int kMostWatched = 256;
Watched g_watched[kMostWatched];

void Watch(uintptr_t begin, uint64_t mapped, uintptr_t base, uint64_t bytes, const char* name) {
  for (Watched& slot : g_watched) {
    if (slot.begin != 0) continue;
    slot = {begin, begin + mapped, base, base + bytes, {}};
    std::snprintf(slot.name, sizeof slot.name, "%s", name);
    return;
  }
}

void Unwatch(uintptr_t begin) {
  for (Watched& slot : g_watched) {
    if (slot.begin == begin) slot.begin = 0;
  }
}

/// Mappings of regions that are gone, for the next ones: a case makes dozens of them, and mapping
/// costs more than most kernels do. One thread at a time.
class MappingPool {
 public:
  unsigned char* Take(uint64_t open_bytes) {
    std::vector<unsigned char*>& kept = free_[open_bytes];
    if (kept.empty()) return nullptr;
    unsigned char* const mapped = kept.back();
    kept.pop_back();
    bytes_ -= open_bytes;
    return mapped;
  }
  /// False if it has enough.
  bool Keep(unsigned char* mapped, uint64_t open_bytes) {
    constexpr uint64_t kMostBytes = 32 << 20;
    if (open_bytes > kMostBytes || bytes_ > kMostBytes - open_bytes) return false;
    free_[open_bytes].push_back(mapped);
    bytes_ += open_bytes;
    return true;
  }

 private:
  std::map<uint64_t, std::vector<unsigned char*>> free_;
  uint64_t bytes_ = 0;
};

MappingPool& Pool() {
  static auto* const pool = new MappingPool;
  return *pool;
}

// Gives the first byte of the mapping: a page without access, `open_bytes`, another such page.
unsigned char* Map(uint64_t open_bytes) {
  unsigned char* const kept = Pool().Take(open_bytes);
  if (kept != nullptr) return kept;
  const uint64_t page = PageBytes();
  const uint64_t all = open_bytes + 2 * page;
  void* const mapped = mmap(nullptr, static_cast<size_t>(all), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const first = static_cast<unsigned char*>(mapped);
  if (mprotect(first + page, static_cast<size_t>(open_bytes), PROT_READ | PROT_WRITE) == 0) {
    return first;
  }
  munmap(mapped, static_cast<size_t>(all));
  return nullptr;
}

void OnFault(int signal, siginfo_t* info, void* /*context*/) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (const Watched& slot : g_watched) {
    if (slot.begin == 0 || at < slot.begin || at >= slot.end) continue;
    char text[160];
    if (at >= slot.base_end) {
      std::snprintf(text, sizeof text, "%s: touched %llu bytes behind its last byte", slot.name,
                    static_cast<unsigned long long>(at - slot.base_end + 1));
    } else {
      std::snprintf(text, sizeof text, "%s: touched %llu bytes before its first byte", slot.name,
                    static_cast<unsigned long long>(slot.base - at));
    }
    NoteMemoryFault(text);
    break;
  }
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);
}

}  // namespace

absl::StatusOr<GuardedRegion> GuardedRegion::Make(std::string name, uint64_t bytes,
                                                  uint64_t alignment, GuardSide side,
                                                  uint64_t offset) {
  const uint64_t page = PageBytes();
  GuardedRegion region;
  region.name_ = std::move(name);
  region.bytes_ = bytes;
  region.open_bytes_ = RoundUp(bytes + offset + alignment, page);
  region.mapped_bytes_ = region.open_bytes_ + 2 * page;
  region.mapped_ = Map(region.open_bytes_);
  if (region.mapped_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no address space for ", region.mapped_bytes_, " bytes of ", region.name_));
  }
  region.open_ = region.mapped_ + page;
  if (side == GuardSide::kBefore) {
    region.base_ = region.open_ + offset;
  } else {
    const uint64_t latest = region.open_bytes_ - bytes;
    region.base_ = region.open_ + latest / alignment * alignment;
  }
  Watch(reinterpret_cast<uintptr_t>(region.mapped_), region.mapped_bytes_,
        reinterpret_cast<uintptr_t>(region.base_), bytes, region.name_.c_str());
  return region;
}

GuardedRegion::GuardedRegion(GuardedRegion&& other) noexcept { *this = std::move(other); }

GuardedRegion& GuardedRegion::operator=(GuardedRegion&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(open_, other.open_);
  std::swap(open_bytes_, other.open_bytes_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

GuardedRegion::~GuardedRegion() {
  if (mapped_ == nullptr) return;
  Unwatch(reinterpret_cast<uintptr_t>(mapped_));
  if (!Pool().Keep(mapped_, open_bytes_)) munmap(mapped_, static_cast<size_t>(mapped_bytes_));
}

void WriteCanary(unsigned char* at, uint64_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  for (uint64_t i = 0; i < bytes; ++i) at[i] = kCanary[(address + i) % sizeof kCanary];
}

uint64_t FindLostCanary(const unsigned char* at, uint64_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  for (uint64_t i = 0; i < bytes; ++i) {
    if (at[i] != kCanary[(address + i) % sizeof kCanary]) return i;
  }
  return bytes;
}

void ReportGuardHits() {
  static bool installed = false;
  if (installed) return;
  installed = true;
  // A stack of its own: the kernel may have lost the one that it ran on.
  static unsigned char stack_memory[64 * 1024];
  stack_t stack = {};
  stack.ss_sp = stack_memory;
  stack.ss_size = sizeof stack_memory;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = &OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace halyard::conformance
