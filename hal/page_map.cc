// SPDX-License-Identifier: Apache-2.0
//
// Source   mmap(2), madvise(2), Linux Documentation/admin-guide/mm/hugetlbpage.rst, transhuge.rst.
#include "hal/page_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/types/span.h"
#include "hal/node_policy.h"
#include "hal/page_wish.h"
#include "hal/system_view.h"

namespace halyard::hal {
namespace {

// The kernel's numbers; C libraries older than the kernel lack some.
constexpr int kHugeSizeShift = 26;         // MAP_HUGE_SHIFT
constexpr int kFixedNoReplace = 0x100000;  // Linux 4.17
constexpr int kPopulateWrite = 23;         // Linux 5.14
constexpr int kCollapse = 25;              // Linux 6.1

constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;

uint64_t AddressOf(const void* ptr) { return reinterpret_cast<uintptr_t>(ptr); }

void* AtAddress(uint64_t address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

// Gives back what lies below and above the part that is kept.
void Trim(uint64_t begin, uint64_t end, uint64_t keep_begin, uint64_t keep_end) {
  if (keep_begin > begin) munmap(AtAddress(begin), static_cast<size_t>(keep_begin - begin));
  if (keep_end < end) munmap(AtAddress(keep_end), static_cast<size_t>(end - keep_end));
}

void* MapHugeAt(void* hint, size_t bytes, int flags) {
  return mmap(hint, bytes, kReadWrite, kAnonymous | MAP_HUGETLB | flags, -1, 0);
}

// Finds an aligned gap and maps there. Another thread may take the gap meanwhile: then once more.
int MapHugeAligned(size_t bytes, uint64_t alignment, int flags, void** out_ptr) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const size_t room = bytes + static_cast<size_t>(alignment);
    void* gap = mmap(nullptr, room, PROT_NONE, kAnonymous, -1, 0);
    if (gap == MAP_FAILED) return errno;
    void* wanted = AtAddress(RoundUp(AddressOf(gap), alignment));
    munmap(gap, room);
    void* ptr = MapHugeAt(wanted, bytes, flags | kFixedNoReplace);
    if (ptr == wanted) {
      *out_ptr = ptr;
      return 0;
    }
    if (ptr != MAP_FAILED) {
      munmap(ptr, bytes);  // an older kernel took the address for a hint
    } else if (errno != EEXIST) {
      return errno;
    }
  }
  return EAGAIN;
}

bool AllPresent(const Region& region) {
  // Bounded memory for any size; the kernel walks the tables at some 10 GB/ms.
  constexpr size_t kChunkPages = 65'536;
  const size_t page = static_cast<size_t>(BasePageBytes());
  std::vector<unsigned char> states(std::min(kChunkPages, region.bytes / page));
  for (size_t at = 0; at < region.bytes; at += kChunkPages * page) {
    const size_t bytes = std::min(kChunkPages * page, region.bytes - at);
    if (mincore(static_cast<char*>(region.ptr) + at, bytes, states.data()) != 0) return false;
    const auto end = states.begin() + static_cast<std::ptrdiff_t>(bytes / page);
    if (std::any_of(states.begin(), end, [](unsigned char state) { return (state & 1) == 0; })) {
      return false;
    }
  }
  return true;
}

// For roots without devices. Base pages are always backed: such a touch does not raise SIGBUS.
int TouchDirectly(const Region& region) {
  volatile char* bytes = static_cast<volatile char*>(region.ptr);
  for (size_t at = 0; at < region.bytes; at += static_cast<size_t>(BasePageBytes())) bytes[at] = 0;
  return 0;
}

// A byte of each page; those that cannot be read are passed over.
size_t ReadEach(absl::Span<void* const> pages) {
  std::vector<char> bytes(pages.size());
  std::vector<iovec> sources;
  for (void* page : pages) sources.push_back({page, 1});
  size_t read = 0;
  for (size_t at = 0; at < sources.size(); ++at) {
    iovec sink = {bytes.data(), bytes.size() - at};
    const ssize_t got = process_vm_readv(getpid(), &sink, 1, &sources[at], sources.size() - at, 0);
    if (got < 0 && errno != EFAULT) return read;
    at += static_cast<size_t>(std::max<ssize_t>(got, 0));
    read += static_cast<size_t>(std::max<ssize_t>(got, 0));
  }
  return read;
}

}  // namespace

int MapBase(uint64_t bytes, uint64_t alignment, Region* out_region) {
  const uint64_t page = BasePageBytes();
  const uint64_t inner = RoundUp(bytes, page);
  const uint64_t room = inner + 2 * page + (alignment > page ? alignment : 0);
  void* reserved = mmap(nullptr, static_cast<size_t>(room), PROT_NONE, kAnonymous, -1, 0);
  if (reserved == MAP_FAILED) return errno;
  const uint64_t begin = AddressOf(reserved);
  const uint64_t at = RoundUp(begin + page, alignment);
  Trim(begin, begin + room, at - page, at + inner + page);
  *out_region = {AtAddress(at), static_cast<size_t>(inner), AtAddress(at - page),
                 static_cast<size_t>(inner + 2 * page)};
  if (mprotect(out_region->ptr, out_region->bytes, kReadWrite) == 0) return 0;
  const int error = errno;
  Unmap(*out_region);
  return error;
}

int MapHuge(uint64_t bytes, uint64_t alignment, uint64_t page_bytes, Region* out_region) {
  const size_t inner = static_cast<size_t>(RoundUp(bytes, page_bytes));
  const int size_flag =
      static_cast<int>(static_cast<unsigned>(std::countr_zero(page_bytes)) << kHugeSizeShift);
  void* ptr = MapHugeAt(nullptr, inner, size_flag);
  if (ptr == MAP_FAILED) return errno;
  if (AddressOf(ptr) % alignment != 0) {
    munmap(ptr, inner);
    const int error = MapHugeAligned(inner, alignment, size_flag, &ptr);
    if (error != 0) return error;
  }
  *out_region = {ptr, inner, ptr, inner};
  return 0;
}

int Unmap(const Region& region) {
  return munmap(region.mapped, region.mapped_bytes) == 0 ? 0 : errno;
}

int TouchPages(const Region& region, uint64_t page_bytes) {
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  if (zero < 0 && page_bytes > BasePageBytes()) return errno;
  if (zero < 0) return TouchDirectly(region);
  constexpr size_t kBatch = 256;
  std::vector<iovec> batch;
  int error = 0;
  for (uint64_t at = 0; at < region.bytes && error == 0;) {
    batch.clear();
    for (; batch.size() < kBatch && at < region.bytes; at += page_bytes) {
      batch.push_back({static_cast<char*>(region.ptr) + at, 1});
    }
    ssize_t got = -1;
    do {
      got = readv(zero, batch.data(), static_cast<int>(batch.size()));
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(batch.size())) error = got < 0 ? errno : EFAULT;
  }
  close(zero);
  return error;
}

int Populate(const Region& region, uint64_t page_bytes) {
  int error = 0;
  do {
    error = madvise(region.ptr, region.bytes, kPopulateWrite) == 0 ? 0 : errno;
  } while (error == EINTR || error == EAGAIN);
  if (error == 0 && AllPresent(region)) return 0;
  if (error != 0 && error != EINVAL && error != ENOSYS) return error;
  return TouchPages(region, page_bytes);
}

size_t ReadPresentPages(const void* ptr, uint64_t bytes, uint64_t step_bytes) {
  constexpr size_t kBatch = 512;  // no more than the kernel takes: IOV_MAX is 1,024
  const uint64_t end = AddressOf(ptr) + bytes;
  size_t read = 0;
  std::vector<void*> batch;
  for (uint64_t at = AddressOf(ptr); at < end;) {
    batch.clear();
    for (; batch.size() < kBatch && at < end; at = (at / step_bytes + 1) * step_bytes) {
      batch.push_back(AtAddress(at));
    }
    const std::optional<std::vector<int>> nodes = NodesOfPages(batch);
    if (!nodes.has_value()) return read;
    size_t kept = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      if ((*nodes)[i] >= 0) batch[kept++] = batch[i];
    }
    batch.resize(kept);
    read += ReadEach(batch);
  }
  return read;
}

uint64_t TransparentPageBytes() {
  const std::optional<std::string> text =
      RealSystem()->Read("sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  uint64_t bytes = 0;
  return text.has_value() && absl::SimpleAtoi(*text, &bytes) ? bytes : 0;
}

int AdviseTransparent(const Region& region) {
  return madvise(region.ptr, region.bytes, MADV_HUGEPAGE) == 0 ? 0 : errno;
}

void CollapseTransparent(const Region& region) {
  // Also an error may have built some of them; what there is, the readback says.
  (void)madvise(region.ptr, region.bytes, kCollapse);
}

int ForbidTransparent(const Region& region) {
  return madvise(region.ptr, region.bytes, MADV_NOHUGEPAGE) == 0 ? 0 : errno;
}

}  // namespace halyard::hal
