// SPDX-License-Identifier: Apache-2.0
//
// Source   System V gABI ch. 4 (ELF header) and 5 (program header); e_machine: <elf.h>.
#include "hal/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cpu_features.h"

namespace halyard::hal {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);

constexpr unsigned char kOwnClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char kOwnData =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

struct Machine {
  uint16_t number;
  const char* name;
};

constexpr Machine kMachines[] = {
    {3, "i386"},    {8, "mips"},      {15, "hppa"},   {20, "ppc"},     {21, "ppc64"},
    {22, "s390x"},  {40, "arm"},      {42, "sh"},     {43, "sparc64"}, {50, "ia64"},
    {62, "x86_64"}, {183, "aarch64"}, {243, "riscv"}, {247, "bpf"},    {258, "loongarch"},
};

#if defined(__x86_64__)
constexpr uint16_t kOwnMachine = 62;
#elif defined(__aarch64__)
constexpr uint16_t kOwnMachine = 183;
#elif defined(__arm__)
constexpr uint16_t kOwnMachine = 40;
#elif defined(__riscv)
constexpr uint16_t kOwnMachine = 243;
#elif defined(__powerpc64__)
constexpr uint16_t kOwnMachine = 21;
#elif defined(__s390x__)
constexpr uint16_t kOwnMachine = 22;
#elif defined(__loongarch__)
constexpr uint16_t kOwnMachine = 258;
#else
#error "Name the ELF machine of this architecture (EM_* of elf.h)."
#endif

std::string DescribeTarget(uint16_t machine, unsigned char elf_class, unsigned char data) {
  std::string name = absl::StrCat("machine ", machine);
  for (const Machine& known : kMachines) {
    if (known.number == machine) name = known.name;
  }
  return absl::StrCat(name, " (", elf_class == ELFCLASS64 ? "64" : "32", "-bit, ",
                      data == ELFDATA2LSB ? "little" : "big", "-endian)");
}

// Both fields have the same place in every ELF header; the byte order is the file's.
uint16_t HalfWord(const unsigned char* header, size_t offset) {
  const unsigned first = header[offset];
  const unsigned second = header[offset + 1];
  const unsigned value =
      header[EI_DATA] == ELFDATA2MSB ? (first << 8 | second) : (second << 8 | first);
  return static_cast<uint16_t>(value);
}

absl::Status Refused(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(path, " ", why));
}

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }

  // False if the file ends before.
  bool Read(uint64_t offset, void* out, size_t bytes) const {
    unsigned char* to = static_cast<unsigned char*>(out);
    while (bytes > 0) {
      const ssize_t got = pread(fd_, to, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

 private:
  int fd_;
};

absl::Status CheckIdentity(const std::string& path, const File& file, uint64_t file_bytes) {
  constexpr size_t kTypeOffset = EI_NIDENT;
  constexpr size_t kMachineOffset = EI_NIDENT + 2;
  unsigned char start[EI_NIDENT + 4] = {};
  if (file_bytes == 0) return Refused(path, "is empty, not a shared library");
  if (!file.Read(0, start, sizeof start) || std::memcmp(start, ELFMAG, SELFMAG) != 0) {
    return Refused(path, "is not a shared library: it does not begin as an ELF file");
  }
  const uint16_t machine = HalfWord(start, kMachineOffset);
  if (start[EI_CLASS] != kOwnClass || start[EI_DATA] != kOwnData || machine != kOwnMachine) {
    return Refused(
        path,
        absl::StrCat("is built for ", DescribeTarget(machine, start[EI_CLASS], start[EI_DATA]),
                     ", and this program for ", DescribeTarget(kOwnMachine, kOwnClass, kOwnData),
                     ": use a plugin built for ", std::string(BuildArch())));
  }
  const uint16_t type = HalfWord(start, kTypeOffset);
  if (type == ET_REL) return Refused(path, "is an object file: link it with -shared");
  if (type != ET_DYN) return Refused(path, "is a program or a core file, not a shared library");
  return absl::OkStatus();
}

// Every byte that the dynamic linker will map must be there, or touching it raises SIGBUS.
absl::Status CheckComplete(const std::string& path, const File& file, uint64_t file_bytes) {
  const std::string cut = "is cut short: copy or build it again";
  Header header;
  if (!file.Read(0, &header, sizeof header)) return Refused(path, cut);
  if (header.e_phentsize != sizeof(Segment) || header.e_phnum == 0) {
    return Refused(path, "has no program headers: it is damaged");
  }
  std::vector<Segment> segments(header.e_phnum);
  if (!file.Read(header.e_phoff, segments.data(), segments.size() * sizeof(Segment))) {
    return Refused(path, cut);
  }
  for (const Segment& segment : segments) {
    const uint64_t begin = segment.p_offset;
    const uint64_t bytes = segment.p_filesz;
    const bool mapped = segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC;
    if (mapped && (begin > file_bytes || bytes > file_bytes - begin)) return Refused(path, cut);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSharedLibrary(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    const std::string why = absl::StrCat(path, ": ", std::strerror(errno));
    return errno == EACCES ? absl::PermissionDeniedError(why) : absl::NotFoundError(why);
  }
  if (S_ISDIR(info.st_mode)) return Refused(path, "is a folder, not a shared library");
  if (!S_ISREG(info.st_mode)) return Refused(path, "is not a regular file");
  const File file(path);
  if (!file.is_open()) {
    return absl::PermissionDeniedError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  const uint64_t file_bytes = static_cast<uint64_t>(info.st_size);
  const absl::Status identity = CheckIdentity(path, file, file_bytes);
  return identity.ok() ? CheckComplete(path, file, file_bytes) : identity;
}

}  // namespace halyard::hal
