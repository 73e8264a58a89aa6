// SPDX-License-Identifier: Apache-2.0
//
// HAL-ABI-01, 02, 07 to 11: the entry, the table, the file.
#include <elf.h>
#include <link.h>

#include <cstring>
#include <fstream>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"
#include "conformance/machine.h"
#include "hal/host_services.h"

namespace halyard::conformance {
namespace {

const hy_hal_api* CallEntry(HalContext& context, uint32_t major, uint32_t minor,
                            const hy_host_services* services, uint32_t* out_reason) {
  *out_reason = 0xdead;
  return context.entry()(major, minor, services, out_reason);
}

std::vector<char> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A record of a file's bytes; false if it does not lie within them.
template <typename T>
bool ReadAt(const std::vector<char>& file, uint64_t offset, T* out) {
  if (offset > file.size() || sizeof(T) > file.size() - offset) return false;
  std::memcpy(out, file.data() + offset, sizeof(T));
  return true;
}

// Names that a shared library defines for others.
std::set<std::string> ExportedSymbols(const std::vector<char>& file) {
  std::set<std::string> names;
  ElfW(Ehdr) header;
  if (!ReadAt(file, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return names;
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    ElfW(Shdr) section, strings;
    if (!ReadAt(file, header.e_shoff + uint64_t{i} * header.e_shentsize, &section)) break;
    if (section.sh_type != SHT_DYNSYM || section.sh_entsize == 0) continue;
    if (!ReadAt(file, header.e_shoff + uint64_t{section.sh_link} * header.e_shentsize, &strings)) {
      break;
    }
    for (uint64_t at = 0; at + sizeof(ElfW(Sym)) <= section.sh_size; at += section.sh_entsize) {
      ElfW(Sym) symbol;
      if (!ReadAt(file, section.sh_offset + at, &symbol)) break;
      const unsigned binding = symbol.st_info >> 4;
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || binding == STB_LOCAL) {
        continue;
      }
      const uint64_t name_at = strings.sh_offset + symbol.st_name;
      if (name_at >= file.size()) continue;
      names.insert(std::string(file.data() + name_at));
    }
  }
  return names;
}

// Symbols that linkers of some machines put into every shared library.
bool IsLinkersOwn(const std::string& name) {
  static const auto* const names = new std::set<std::string>{
      "_init",       "_fini",   "_edata",     "_end",         "__bss_start",   "__bss_start__",
      "__bss_end__", "__end__", "_bss_end__", "__data_start", "_IO_stdin_used"};
  return names->count(name) != 0;
}

}  // namespace

HY_DUTY("HAL-ABI-01", AnotherMajorVersionIsRefused, .needs_device = false) {
  ASSERT_NE(context.entry(), nullptr);
  uint32_t reason = 0;
  for (const uint32_t major : {0u, HY_HAL_ABI_MAJOR + 1, 99u, UINT32_MAX}) {
    EXPECT_EQ(CallEntry(context, major, 0, hal::HostServices(), &reason), nullptr) << major;
    EXPECT_EQ(reason, static_cast<uint32_t>(HY_REFUSED_MAJOR)) << major;
    EXPECT_EQ(context.entry()(major, 0, hal::HostServices(), nullptr), nullptr)
        << "a host that does not ask for the reason";
  }
  EXPECT_EQ(CallEntry(context, HY_HAL_ABI_MAJOR, 0, nullptr, &reason), nullptr);
  EXPECT_EQ(reason, static_cast<uint32_t>(HY_REFUSED_SERVICES));
  hy_host_services shorter = *hal::HostServices();
  shorter.struct_size = 24;
  EXPECT_EQ(CallEntry(context, HY_HAL_ABI_MAJOR, 0, &shorter, &reason), nullptr);
  EXPECT_EQ(reason, static_cast<uint32_t>(HY_REFUSED_SERVICES));
  // A newer minor version of the host is no reason to refuse.
  EXPECT_NE(CallEntry(context, HY_HAL_ABI_MAJOR, 7, hal::HostServices(), &reason), nullptr);
  EXPECT_EQ(reason, static_cast<uint32_t>(HY_REFUSED_NONE));
}

HY_DUTY("HAL-ABI-02", TheTableSaysWhatItIs, .needs_device = false) {
  uint32_t reason = 0;
  const hy_hal_api* const table =
      CallEntry(context, HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, hal::HostServices(), &reason);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->abi_major, HY_HAL_ABI_MAJOR);
  EXPECT_GE(table->struct_size, HY_HAL_API_SIZE_V1_0);
  ASSERT_NE(table->name, nullptr);
  EXPECT_NE(table->name[0], '\0');
  EXPECT_EQ(std::strspn(table->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
            std::strlen(table->name))
      << table->name;
  EXPECT_NE(table->version, nullptr);
  EXPECT_NE(table->vendor, nullptr);
}

HY_DUTY("HAL-ABI-07", EveryVerbWorksOnThePort) {
  HY_ASSERT_OK(UseEverything(context, context.device()));
  HY_ASSERT_OK_AND_ASSIGN(hal::Team team, context.device().CreateTeam({}));
  EXPECT_GE(team.size(), 1u) << "count 0 lets the port pick";
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, 5000));
  HY_ASSERT_OK(WriteByCopy(context, buffer, 0, Bytes(5000, 1)));
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(buffer, 0, 5000));
  EXPECT_EQ(FirstDifference(got, Bytes(5000, 1)), "");
  context.Fact("verbs_of_the_core", absl::StrJoin(context.device().defaulted_verbs(), " "));
}

HY_DUTY("HAL-ABI-08", TheNeededVerbsArePresent, .needs_device = false) {
  uint32_t reason = 0;
  const hy_hal_api* const table =
      CallEntry(context, HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, hal::HostServices(), &reason);
  ASSERT_NE(table, nullptr);
  EXPECT_NE(table->enumerate, nullptr);
  EXPECT_NE(table->open, nullptr);
  EXPECT_NE(table->query, nullptr);
  EXPECT_NE(table->alloc, nullptr);
  EXPECT_NE(table->timestamp, nullptr);
  EXPECT_NE(table->release, nullptr);
  EXPECT_TRUE(table->map != nullptr || table->submit != nullptr);
  // Verbs that only make sense together.
  const int fences = (table->fence_create != nullptr) + (table->fence_wait != nullptr) +
                     (table->fence_signal != nullptr);
  EXPECT_TRUE(fences == 0 || fences == 3) << "a port has all three fence verbs or none";
  EXPECT_EQ(table->team_create == nullptr, table->team_run == nullptr);
  if (table->queue_create != nullptr) {
    EXPECT_NE(table->submit, nullptr);
  }
}

HY_DUTY("HAL-ABI-09", OnlyTheEntryIsExported, .needs_device = false) {
  const std::optional<std::string> path = context.plugin_path();
  if (!path.has_value()) GTEST_SKIP() << "the port is built into the program";
  const std::set<std::string> names = ExportedSymbols(ReadWhole(*path));
  ASSERT_EQ(names.count(HY_HAL_GET_NAME), 1u) << "no " << HY_HAL_GET_NAME << " in " << *path;
  for (const std::string& name : names) {
    if (IsLinkersOwn(name)) continue;
    EXPECT_TRUE(name == HY_HAL_GET_NAME || name == "halyard_kernels_query")
        << "the plugin also exports " << name << "; link it with -fvisibility=hidden";
  }
}

HY_DUTY("HAL-ABI-10", LoadingStartsNothing, .needs_device = false, .in_validate = false,
        .alone = true) {
  for (const auto& [name, value] : MachineFacts()) {
    if (name == "sanitizer" && value == "thread") {
      GTEST_SKIP() << "the sanitizer has a thread of its own";
    }
  }
  // This child has loaded the port and opened nothing. That the base ISA is enough shows in the
  // runs under emulated processors that have no more.
  // An emulator has threads of its own, which stay the same.
  const uint64_t own = context.emulated() ? os::CurrentHoldings().threads : 1;
  EXPECT_EQ(os::CurrentHoldings().threads, own) << "loading the port has started threads";
  EXPECT_EQ(os::ThreadEnvironment(), os::EnvironmentAtStart());
  uint32_t reason = 0;
  CallEntry(context, HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, hal::HostServices(), &reason);
  EXPECT_EQ(os::CurrentHoldings().threads, own) << "the entry has started threads";
}

HY_DUTY("HAL-ABI-11", TheTableIsAlwaysTheSame) {
  uint32_t reason = 0;
  const hy_hal_api* const first =
      CallEntry(context, HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, hal::HostServices(), &reason);
  ASSERT_NE(first, nullptr);
  hy_hal_api copy = *first;
  HY_ASSERT_OK(UseEverything(context, context.device()));
  CallEntry(context, HY_HAL_ABI_MAJOR + 1, 0, hal::HostServices(), &reason);
  const hy_hal_api* const second =
      CallEntry(context, HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, hal::HostServices(), &reason);
  EXPECT_EQ(second, first);
  EXPECT_EQ(std::memcmp(second, &copy, HY_HAL_API_SIZE_V1_0), 0) << "the table has changed";
}

DutyTable AbiDuties() {
  static constexpr DutyTest kTests[] = {AnotherMajorVersionIsRefused, TheTableSaysWhatItIs,
                                        EveryVerbWorksOnThePort,      TheNeededVerbsArePresent,
                                        OnlyTheEntryIsExported,       LoadingStartsNothing,
                                        TheTableIsAlwaysTheSame};
  return kTests;
}

}  // namespace halyard::conformance
