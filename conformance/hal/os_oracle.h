// SPDX-License-Identifier: Apache-2.0
//
// What the operating system says of this process: an oracle for placement, binding and leaks that
// shares no code with hal/. Whatever cannot be told is empty, never guessed.
#ifndef HALYARD_CONFORMANCE_HAL_OS_ORACLE_H_
#define HALYARD_CONFORMANCE_HAL_OS_ORACLE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace halyard::conformance::os {

/// Units that the calling thread may run on, by the system call.
std::optional<std::set<uint32_t>> ThreadMask();

/// Sets it; false if the system refused.
bool SetThreadMask(const std::set<uint32_t>& mask);

/// The unit that the calling thread is on now, and its node.
std::optional<uint32_t> CurrentUnit();

/// "0-3,8" as a set; nothing if it is no such list.
std::optional<std::set<uint32_t>> ParseList(const std::string& text);

/// A file's text without its last newline; nothing if it cannot be read.
std::optional<std::string> ReadFile(const std::string& path);

/// Units that are online, nodes that exist.
std::optional<std::set<uint32_t>> OnlineUnits();
std::optional<std::set<uint32_t>> OnlineNodes();

/// Nodes from which this process may have memory.
std::optional<std::set<uint32_t>> AllowedNodes();

/// A field of /proc/thread-self/status, such as "Cpus_allowed_list".
std::optional<std::string> StatusField(const std::string& name);

/// Node on which the page at `address` lies; nothing if it is not there or the system cannot tell.
std::optional<uint32_t> NodeOfPage(const void* address);

/// What /proc/self/smaps says of the mapping that holds `address`.
struct MappingInfo {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t kernel_page_bytes = 0;
  uint64_t rss_bytes = 0;
  uint64_t anon_huge_bytes = 0;
  uint64_t hugetlb_bytes = 0;
};
std::optional<MappingInfo> MappingOf(const void* address);

/// Bytes of [ptr, ptr + bytes) that are in memory, in whole pages; nothing if it cannot be told.
std::optional<uint64_t> ResidentBytes(const void* ptr, uint64_t bytes);

uint64_t BasePageBytes();
/// Free pages of a huge page size of the whole machine; nothing if the kernel has no such size.
std::optional<uint64_t> FreeHugePages(uint64_t page_bytes);

/// Things of a process that must not pile up.
struct Holdings {
  uint64_t descriptors = 0;
  uint64_t threads = 0;
  uint64_t mappings = 0;
  uint64_t heap_bytes = 0;           ///< that the C library's allocator has given out
  uint64_t service_allocations = 0;  ///< that the port holds through the host's services
  uint64_t service_bytes = 0;
};
Holdings CurrentHoldings();

/// State of the calling thread and process that a port must leave alone, as text lines.
std::string ThreadEnvironment();

/// The same, of the thread that first called this: a child calls it before it loads the port.
const std::string& EnvironmentAtStart();

}  // namespace halyard::conformance::os

#endif  // HALYARD_CONFORMANCE_HAL_OS_ORACLE_H_
