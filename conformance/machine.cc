// SPDX-License-Identifier: Apache-2.0
#include "conformance/machine.h"

#include <elf.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/cpu_features.h"
#include "conformance/suite_version.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HALYARD_UNDER_SANITIZER "address"
#elif __has_feature(thread_sanitizer)
#define HALYARD_UNDER_SANITIZER "thread"
#endif
#endif
#if !defined(HALYARD_UNDER_SANITIZER) && defined(__SANITIZE_ADDRESS__)
#define HALYARD_UNDER_SANITIZER "address"
#elif !defined(HALYARD_UNDER_SANITIZER) && defined(__SANITIZE_THREAD__)
#define HALYARD_UNDER_SANITIZER "thread"
#endif
#ifndef HALYARD_UNDER_SANITIZER
#define HALYARD_UNDER_SANITIZER "none"
#endif

namespace halyard::conformance {
namespace {

// An emulated processor runs one to two orders slower; a sanitizer about five times.
constexpr double kEmulatedTimeScale = 20;
constexpr double kSanitizedTimeScale = 6;
// Other work on the machine takes its share; beyond this it is no place to test.
constexpr double kMostBusyTimeScale = 8;

std::string LinkTarget(const char* path) {
  char target[4096];
  const ssize_t length = readlink(path, target, sizeof target);
  return length > 0 ? std::string(target, static_cast<size_t>(length)) : "";
}

// Bytes of an ELF header that say for which machine a program is: class, byte order, e_machine.
std::string ElfMachine(const char* path) {
  std::ifstream file(path, std::ios::binary);
  char head[20] = {};
  if (!file.read(head, sizeof head) || std::memcmp(head, ELFMAG, SELFMAG) != 0) return "";
  return std::string(head + EI_CLASS, 2) + std::string(head + 18, 2);
}

bool DetectEmulator() {
  const std::string claimed = LinkTarget("/proc/self/exe");
  const std::string real = LinkTarget("/proc/thread-self/exe");
  if (real.empty()) return false;
  const size_t slash = real.rfind('/');
  if (absl::StartsWith(real.substr(slash == std::string::npos ? 0 : slash + 1), "qemu-")) {
    return true;
  }
  if (!claimed.empty() && claimed != real) return true;
  const std::string own = ElfMachine("/proc/self/exe");
  const std::string running = ElfMachine("/proc/thread-self/exe");
  return !own.empty() && !running.empty() && own != running;
}

// The processor in words; emulators show the host's, so the architecture is asked elsewhere.
std::string MachineModel(const std::string& arch) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    for (const char* key : {"model name", "cpu model", "uarch", "Hardware", "machine"}) {
      const size_t colon = line.find(':');
      if (!absl::StartsWith(line, key) || colon == std::string::npos) continue;
      return std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
    }
  }
  return arch;
}

std::string CompilerName() {
#if defined(__clang__)
  return absl::StrCat("clang ", __clang_major__, ".", __clang_minor__, ".", __clang_patchlevel__);
#elif defined(__GNUC__)
  return absl::StrCat("gcc ", __GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

// Whether a test can see a missing barrier here: strongly ordered machines hide it.
std::string MemoryOrderNote(const std::string& arch) {
  const bool strong = arch == "x86_64" || arch == "s390x";
  return IsEmulated() || strong ? "not exercised (strongly ordered or emulated)" : "exercised";
}

double BusyTimeScale() {
  double load = 0;
  const unsigned units = std::max(1u, std::thread::hardware_concurrency());
  if (getloadavg(&load, 1) != 1) return 1;
  return std::min(std::max(1.0, load / units), kMostBusyTimeScale);
}

}  // namespace

bool IsEmulated() {
  static const bool emulated = DetectEmulator();
  return emulated;
}

double NaturalTimeScale() {
  static const double busy = BusyTimeScale();
  const bool sanitized = std::strcmp(HALYARD_UNDER_SANITIZER, "none") != 0;
  return (IsEmulated() ? kEmulatedTimeScale : 1) * (sanitized ? kSanitizedTimeScale : 1) * busy;
}

std::vector<std::pair<std::string, std::string>> MachineFacts() {
  utsname system{};
  uname(&system);
  const std::string arch(BuildArch());
  std::vector<std::pair<std::string, std::string>> facts = {
      {"machine", MachineModel(arch)},
      {"kernel", absl::StrCat(system.sysname, " ", system.release)},
      {"arch", arch},
      {"compiler", CompilerName()},
      {"cpus", absl::StrCat(std::thread::hardware_concurrency())},
      {"emulated", IsEmulated() ? "yes" : "no"},
      {"sanitizer", HALYARD_UNDER_SANITIZER},
      {"memory_order", MemoryOrderNote(arch)}};
  // What an emulator shows as the machine is the same for many processors that it can be.
  const char* const cpu = std::getenv("QEMU_CPU");
  if (IsEmulated() && cpu != nullptr) facts.emplace_back("emulated_cpu", cpu);
  const std::vector<std::pair<std::string, std::string>> suite = SuiteFacts();
  facts.insert(facts.end(), suite.begin(), suite.end());
  return facts;
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, length);
}

}  // namespace halyard::conformance
