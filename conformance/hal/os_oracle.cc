// SPDX-License-Identifier: Apache-2.0
#include "conformance/hal/os_oracle.h"

#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <climits>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "conformance/machine.h"
#include "hal/host_services.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halyard::conformance::os {
namespace {

constexpr uint32_t kMostUnits = 65536;
constexpr uint32_t kBitsOfLong = sizeof(unsigned long) * CHAR_BIT;

uint64_t CountEntries(const char* folder) {
  DIR* const directory = opendir(folder);
  if (directory == nullptr) return 0;
  uint64_t count = 0;
  while (const dirent* const entry = readdir(directory)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(directory);
  return count;
}

uint64_t CountLines(const char* path) {
  std::ifstream file(path);
  uint64_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

std::optional<std::set<uint32_t>> ListFile(const std::string& path) {
  const std::optional<std::string> text = ReadFile(path);
  return text.has_value() ? ParseList(*text) : std::nullopt;
}

// Without the two that the C library keeps for its threads (32 and 33).
std::string CaughtSignals() {
  if (IsEmulated()) return "those of the emulator too";  // the handlers themselves are compared
  const std::string mask = StatusField("SigCgt").value_or("");
  const uint64_t caught = std::strtoull(mask.c_str(), nullptr, 16) & ~(UINT64_C(3) << 31);
  return std::to_string(caught);
}

// "Rss:   12 kB" into bytes.
bool ReadKilobytes(const std::string& line, const char* name, uint64_t* out) {
  const size_t length = std::strlen(name);
  if (line.compare(0, length, name) != 0 || line.size() <= length || line[length] != ':') {
    return false;
  }
  *out = std::strtoull(line.c_str() + length + 1, nullptr, 10) * 1024;
  return true;
}

}  // namespace

std::optional<std::set<uint32_t>> ThreadMask() {
  std::vector<unsigned long> words(kMostUnits / kBitsOfLong);
  const long bytes =
      syscall(SYS_sched_getaffinity, 0, words.size() * sizeof words[0], words.data());
  if (bytes <= 0) return std::nullopt;
  std::set<uint32_t> mask;
  for (uint32_t unit = 0; unit < static_cast<uint32_t>(bytes) * CHAR_BIT; ++unit) {
    if ((words[unit / kBitsOfLong] >> (unit % kBitsOfLong)) & 1u) mask.insert(unit);
  }
  return mask;
}

bool SetThreadMask(const std::set<uint32_t>& mask) {
  std::vector<unsigned long> words(kMostUnits / kBitsOfLong);
  for (const uint32_t unit : mask) {
    if (unit < kMostUnits) words[unit / kBitsOfLong] |= 1ul << (unit % kBitsOfLong);
  }
  return syscall(SYS_sched_setaffinity, 0, words.size() * sizeof words[0], words.data()) == 0;
}

std::optional<uint32_t> CurrentUnit() {
  unsigned unit = 0, node = 0;
  if (syscall(SYS_getcpu, &unit, &node, nullptr) != 0) return std::nullopt;
  return unit;
}

std::optional<std::set<uint32_t>> ParseList(const std::string& text) {
  std::set<uint32_t> ids;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    char* end = nullptr;
    const unsigned long first = std::strtoul(part.c_str(), &end, 10);
    if (end == part.c_str()) return std::nullopt;
    const unsigned long last = *end == '-' ? std::strtoul(end + 1, &end, 10) : first;
    for (unsigned long id = first; id <= last && id < kMostUnits; ++id) {
      ids.insert(static_cast<uint32_t>(id));
    }
  }
  return ids;
}

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  std::string result = text.str();
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

std::optional<std::set<uint32_t>> OnlineUnits() {
  return ListFile("/sys/devices/system/cpu/online");
}

std::optional<std::set<uint32_t>> OnlineNodes() {
  return ListFile("/sys/devices/system/node/online");
}

std::optional<std::set<uint32_t>> AllowedNodes() {
  const std::optional<std::string> text = StatusField("Mems_allowed_list");
  return text.has_value() ? ParseList(*text) : std::nullopt;
}

std::optional<std::string> StatusField(const std::string& name) {
  std::ifstream file("/proc/thread-self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, name.size() + 1, name + ":") != 0) continue;
    const size_t begin = line.find_first_not_of(" \t", name.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return std::nullopt;
}

std::optional<uint32_t> NodeOfPage(const void* address) {
#ifdef SYS_move_pages
  const uint64_t page = BasePageBytes();
  void* pages[1] = {reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) / page * page)};
  int status[1] = {-1};
  if (syscall(SYS_move_pages, 0, 1ul, pages, nullptr, status, 0) != 0 || status[0] < 0) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(status[0]);
#else
  static_cast<void>(address);
  return std::nullopt;
#endif
}

namespace {

// Linux 6.1, for one, leaves a huge page out of smaps while NUMA balancing watches it, until
// somebody looks at it. Read by a call that returns an error, for not all that is there is readable.
void LookAtPresentPages(uint64_t begin, uint64_t end) {
  constexpr uint64_t kMostPages = 65'536;
  const uint64_t page = BasePageBytes();
  if ((end - begin) / page > kMostPages) return;  // no mapping of a test
  std::vector<unsigned char> flags(static_cast<size_t>((end - begin) / page));
  if (mincore(reinterpret_cast<void*>(static_cast<uintptr_t>(begin)),
              static_cast<size_t>(end - begin), flags.data()) != 0) {
    return;
  }
  for (size_t i = 0; i < flags.size(); ++i) {
    if ((flags[i] & 1u) == 0) continue;
    char byte = 0;
    iovec to = {&byte, 1};
    iovec from = {reinterpret_cast<void*>(static_cast<uintptr_t>(begin + i * page)), 1};
    static_cast<void>(process_vm_readv(getpid(), &to, 1, &from, 1, 0));
  }
}

std::optional<MappingInfo> ReadMapping(const void* address) {
  std::ifstream file("/proc/self/smaps");
  const auto wanted = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address));
  MappingInfo info;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    unsigned long long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2 &&
        line.find('-') < line.find(' ')) {
      if (inside) return info;
      inside = begin <= wanted && wanted < end;
      info = MappingInfo{begin, end, 0, 0, 0, 0};
      continue;
    }
    if (!inside) continue;
    uint64_t bytes = 0;
    if (ReadKilobytes(line, "KernelPageSize", &bytes)) info.kernel_page_bytes = bytes;
    if (ReadKilobytes(line, "Rss", &bytes)) info.rss_bytes = bytes;
    if (ReadKilobytes(line, "AnonHugePages", &bytes)) info.anon_huge_bytes = bytes;
    if (ReadKilobytes(line, "Shared_Hugetlb", &bytes)) info.hugetlb_bytes += bytes;
    if (ReadKilobytes(line, "Private_Hugetlb", &bytes)) info.hugetlb_bytes += bytes;
  }
  if (inside) return info;
  return std::nullopt;
}

}  // namespace

std::optional<MappingInfo> MappingOf(const void* address) {
  const std::optional<MappingInfo> place = ReadMapping(address);
  if (!place.has_value()) return std::nullopt;
  LookAtPresentPages(place->begin, place->end);
  return ReadMapping(address);
}

std::optional<uint64_t> ResidentBytes(const void* ptr, uint64_t bytes) {
  const uint64_t page = BasePageBytes();
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(ptr));
  const uint64_t begin = address / page * page;
  const uint64_t end = (address + bytes + page - 1) / page * page;
  std::vector<unsigned char> flags(static_cast<size_t>((end - begin) / page));
  if (mincore(reinterpret_cast<void*>(static_cast<uintptr_t>(begin)),
              static_cast<size_t>(end - begin), flags.data()) != 0) {
    return std::nullopt;
  }
  return page * static_cast<uint64_t>(std::count_if(flags.begin(), flags.end(),
                                                    [](auto flag) { return (flag & 1u) != 0; }));
}

uint64_t BasePageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

std::optional<uint64_t> FreeHugePages(uint64_t page_bytes) {
  const std::optional<std::string> text =
      ReadFile("/sys/kernel/mm/hugepages/hugepages-" + std::to_string(page_bytes / 1024) +
               "kB/free_hugepages");
  if (!text.has_value()) return std::nullopt;
  return std::strtoull(text->c_str(), nullptr, 10);
}

Holdings CurrentHoldings() {
  Holdings holdings;
  holdings.descriptors = CountEntries("/proc/self/fd");
  holdings.threads = CountEntries("/proc/self/task");
  holdings.mappings = CountLines("/proc/self/maps");
  holdings.heap_bytes =
      static_cast<uint64_t>(mallinfo2().uordblks) + static_cast<uint64_t>(mallinfo2().hblkhd);
  const hal::HostMemoryUse use = hal::CurrentHostMemoryUse();
  holdings.service_allocations = use.allocations;
  holdings.service_bytes = use.bytes;
  return holdings;
}

std::string ThreadEnvironment() {
  std::stringstream text;
  text << "affinity " << StatusField("Cpus_allowed_list").value_or("?") << '\n'
       << "memory nodes " << StatusField("Mems_allowed_list").value_or("?") << '\n'
       << "signals blocked " << StatusField("SigBlk").value_or("?") << '\n'
       << "signals caught " << CaughtSignals() << '\n'
       << "signals ignored " << StatusField("SigIgn").value_or("?") << '\n'
       << "rounding " << std::fegetround() << '\n'
       << "locale " << std::setlocale(LC_ALL, nullptr) << '\n';
#ifdef SYS_get_mempolicy
  int policy = -1;
  std::vector<unsigned long> nodes(1024 / kBitsOfLong);
  if (syscall(SYS_get_mempolicy, &policy, nodes.data(), 1024ul, nullptr, 0) == 0) {
    text << "memory policy " << policy;
    for (const unsigned long word : nodes) text << ' ' << word;
    text << '\n';
  }
#endif
#if defined(__x86_64__)
  text << "mxcsr " << (_mm_getcsr() & ~0x3fu) << '\n';
#elif defined(__aarch64__)
  uint64_t fpcr = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  text << "fpcr " << fpcr << '\n';
#endif
  struct sigaction action {};
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) {
    if (sigaction(signal_number, nullptr, &action) != 0) continue;
    const bool is_set = (action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL;
    if (!is_set) continue;
    text << "handler of signal " << signal_number << ' '
         << reinterpret_cast<uintptr_t>(action.sa_handler) << '\n';
  }
  return text.str();
}

const std::string& EnvironmentAtStart() {
  static const auto* const environment = new std::string(ThreadEnvironment());
  return *environment;
}

}  // namespace halyard::conformance::os
