// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/arch/arm64/cpu-feature-registers.rst for MIDR_EL1 in sysfs,
//          Documentation/devicetree/usage-model.rst for /proc/device-tree, and each
//          architecture's show_cpuinfo for the form of /proc/cpuinfo.
#include "facts/chip_match.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hal/topology_parts.h"

namespace halyard::facts {
namespace {

using Words = std::set<std::string>;

struct CpuinfoLine {
  absl::string_view key;
  absl::string_view value;
};

std::vector<CpuinfoLine> SplitCpuinfo(absl::string_view text) {
  std::vector<CpuinfoLine> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    lines.push_back(
        {absl::StripAsciiWhitespace(parts.first), absl::StripAsciiWhitespace(parts.second)});
  }
  return lines;
}

bool ParseNumber(absl::string_view text, uint64_t* out) {
  return absl::StartsWith(text, "0x") ? absl::SimpleHexAtoi(text, out)
                                      : absl::SimpleAtoi(text, out);
}

void AddMidr(uint64_t implementer, uint64_t part, std::vector<MidrPart>* midr) {
  const MidrPart seen{static_cast<uint32_t>(implementer), static_cast<uint32_t>(part)};
  if (std::find(midr->begin(), midr->end(), seen) == midr->end()) midr->push_back(seen);
}

/// From every unit of the machine, also those that this process may not use: a cpuset of the big
/// cores alone does not make it another chip.
void ReadMidr(const hal::SystemView& view, const std::vector<CpuinfoLine>& cpuinfo,
              std::vector<MidrPart>* midr) {
  for (const uint32_t unit : hal::ListNumbered(view, "sys/devices/system/cpu", "cpu")) {
    const auto text = view.Read(
        absl::StrCat("sys/devices/system/cpu/cpu", unit, "/regs/identification/midr_el1"));
    uint64_t value = 0;
    if (text && ParseNumber(absl::StripAsciiWhitespace(*text), &value)) {
      AddMidr((value >> 24) & 0xff, (value >> 4) & 0xfff, midr);
    }
  }
  if (!midr->empty()) return;
  uint64_t implementer = 0;
  for (const CpuinfoLine& line : cpuinfo) {
    uint64_t part = 0;
    if (line.key == "CPU implementer") ParseNumber(line.value, &implementer);
    if (line.key == "CPU part" && ParseNumber(line.value, &part)) AddMidr(implementer, part, midr);
  }
}

std::optional<ChipMarks::X86> ReadX86(const std::vector<CpuinfoLine>& cpuinfo) {
  ChipMarks::X86 x86;
  bool family = false;
  bool model = false;
  for (const CpuinfoLine& line : cpuinfo) {
    if (line.key == "vendor_id") x86.vendor = std::string(line.value);
    if (line.key == "cpu family") family = absl::SimpleAtoi(line.value, &x86.family);
    if (line.key == "model") model = absl::SimpleAtoi(line.value, &x86.model);
    if (!x86.vendor.empty() && family && model) return x86;
  }
  return std::nullopt;
}

/// The key of the line with the ISA words; an emulator that shows its host's file has another.
bool IsWordLine(absl::string_view arch, absl::string_view key) {
  if (arch == "x86_64") return key == "flags";
  if (arch == "s390x") return key == "features";
  if (absl::StartsWith(arch, "riscv")) return key == "isa" || key == "hart isa";
  return (absl::StartsWith(arch, "arm") || arch == "aarch64" || arch == "loongarch64") &&
         key == "Features";
}

/// "rv64imafdcv_zba" is the base, its letters and the names after it.
void AddRiscvWords(absl::string_view text, Words* words) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '_');
  for (const char letter : parts.front().substr(std::min<size_t>(4, parts.front().size()))) {
    words->insert(std::string(1, letter));
  }
  for (size_t i = 1; i < parts.size(); ++i) words->insert(std::string(parts[i]));
}

std::optional<Words> ReadWords(absl::string_view arch, const std::vector<CpuinfoLine>& cpuinfo) {
  std::optional<Words> common;
  for (const CpuinfoLine& line : cpuinfo) {
    if (!IsWordLine(arch, line.key)) continue;
    Words words;
    for (const absl::string_view word :
         absl::StrSplit(line.value, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
      words.insert(std::string(word));
      if (absl::StartsWith(word, "rv")) AddRiscvWords(word, &words);
    }
    if (!common) {
      common = std::move(words);
      continue;
    }
    Words both;
    std::set_intersection(common->begin(), common->end(), words.begin(), words.end(),
                          std::inserter(both, both.end()));
    common = std::move(both);
  }
  return common;
}

/// x86 and 32-bit Arm name the processor, boards themselves in the device tree, servers in DMI.
/// Where the words of this architecture are missing, an emulator shows its host's /proc/cpuinfo.
std::string ReadName(const hal::SystemView& view, const std::vector<CpuinfoLine>& cpuinfo,
                     bool own_cpuinfo) {
  for (const CpuinfoLine& line : cpuinfo) {
    if (own_cpuinfo && line.key == "model name") return std::string(line.value);
  }
  for (const absl::string_view path :
       {"proc/device-tree/model", "sys/firmware/devicetree/base/model",
        "sys/class/dmi/id/product_name"}) {
    const std::string text = view.Read(path).value_or("");
    const absl::string_view name = absl::StripAsciiWhitespace(text.c_str());  // ends at a NUL
    if (!name.empty()) return std::string(name);
  }
  return "";
}

std::vector<std::string> ReadTexts(const hal::SystemView& view) {
  std::vector<std::string> texts;
  for (const absl::string_view path :
       {"proc/cpuinfo", "proc/device-tree/model", "proc/device-tree/compatible",
        "sys/firmware/devicetree/base/model", "sys/firmware/devicetree/base/compatible",
        "sys/class/dmi/id/product_name", "sys/class/dmi/id/product_version",
        "sys/class/dmi/id/product_family", "sys/class/dmi/id/board_name"}) {
    if (const auto text = view.Read(path)) texts.push_back(*text);
  }
  return texts;
}

bool AnyContains(const std::vector<std::string>& texts, const std::vector<std::string>& parts) {
  return std::any_of(texts.begin(), texts.end(), [&parts](const std::string& text) {
    return std::any_of(parts.begin(), parts.end(),
                       [&text](const std::string& part) { return absl::StrContains(text, part); });
  });
}

/// x86 guests have a flag; the others are known by the name of the machine that they are given.
bool IsVirtual(const hal::SystemView& view, const ChipMarks& marks) {
  if (marks.words && marks.words->count("hypervisor") != 0) return true;
  if (view.Read("sys/hypervisor/type")) return true;
  const std::string vendor = view.Read("sys/class/dmi/id/sys_vendor").value_or("");
  const std::string product = view.Read("sys/class/dmi/id/product_name").value_or("");
  if (absl::StrContains(vendor, "Amazon EC2")) return !absl::StrContains(product, "metal");
  const std::vector<std::string> names = {vendor, product,
                                          view.Read("proc/device-tree/compatible").value_or("")};
  return AnyContains(
      names, {"QEMU", "KVM", "VMware", "Virtual Machine", "VirtualBox", "Xen",
              "Google Compute Engine", "OpenStack", "Alibaba Cloud ECS", "linux,dummy-virt"});
}

bool FitsX86(const std::vector<X86Family>& families, const std::optional<ChipMarks::X86>& x86) {
  return x86 && std::any_of(families.begin(), families.end(), [&x86](const X86Family& family) {
           if (family.vendor != x86->vendor || family.family != x86->family) return false;
           return family.models.empty() ||
                  std::any_of(family.models.begin(), family.models.end(), [&x86](const auto& ends) {
                    return ends.first <= x86->model && x86->model <= ends.second;
                  });
         });
}

bool SameParts(const std::vector<MidrPart>& wanted, const std::vector<MidrPart>& seen) {
  return wanted.size() == seen.size() &&
         std::is_permutation(wanted.begin(), wanted.end(), seen.begin());
}

bool FitsIsa(const std::vector<std::string>& words, const ChipMarks& marks) {
  bool told = words.empty();
  for (const std::string& word : words) {
    const std::optional<bool> has = HasWord(marks, word);
    if (has && !*has) return false;
    told |= has.has_value();
  }
  return told;
}

}  // namespace

ChipMarks ReadChipMarks(const hal::SystemView& view, const hal::Topology& topology) {
  ChipMarks marks;
  // A 32-bit program on a 64-bit kernel is told the kernel's architecture.
  marks.arch = view.is_live() ? std::string(BuildArch()) : view.arch();
  const std::string text = view.Read("proc/cpuinfo").value_or("");
  const std::vector<CpuinfoLine> cpuinfo = SplitCpuinfo(text);
  if (absl::StartsWith(marks.arch, "arm") || marks.arch == "aarch64") {
    ReadMidr(view, cpuinfo, &marks.midr);
  }
  if (marks.arch == "x86_64") marks.x86 = ReadX86(cpuinfo);
  marks.texts = ReadTexts(view);
  marks.words = ReadWords(marks.arch, cpuinfo);
  marks.name = ReadName(view, cpuinfo, marks.words.has_value());
  marks.is_virtual = IsVirtual(view, marks);
  if (!topology.pus.empty()) marks.isa = {~uint64_t{0}, ~uint64_t{0}};
  for (const hy_pu& pu : topology.pus) {
    for (size_t word = 0; word < marks.isa.size(); ++word) marks.isa[word] &= pu.isa[word];
  }
  return marks;
}

std::optional<bool> HasWord(const ChipMarks& marks, absl::string_view word) {
  const IsaMask bits = IsaFromWords(marks.arch, {std::string(word)});
  if (bits != IsaMask{}) {
    return (bits[0] & ~marks.isa[0]) == 0 && (bits[1] & ~marks.isa[1]) == 0;
  }
  if (!marks.words) return std::nullopt;
  return marks.words->count(std::string(word)) != 0;
}

bool Fits(const MatchRule& rule, const ChipMarks& marks) {
  return rule.arch == marks.arch && (rule.midr.empty() || SameParts(rule.midr, marks.midr)) &&
         (rule.x86.empty() || FitsX86(rule.x86, marks.x86)) &&
         (rule.hints.empty() || AnyContains(marks.texts, rule.hints)) && FitsIsa(rule.isa, marks);
}

const ChipSheet* MatchChipSheet(const std::vector<ChipSheet>& sheets, const ChipMarks& marks) {
  const auto rank = [](const ChipSheet& sheet) {
    return std::tuple(-static_cast<int>(sheet.kind), -static_cast<int64_t>(sheet.match.isa.size()),
                      absl::string_view(sheet.id));
  };
  const ChipSheet* best = nullptr;
  for (const ChipSheet& sheet : sheets) {
    if (!Fits(sheet.match, marks)) continue;
    if (best == nullptr || rank(sheet) < rank(*best)) best = &sheet;
  }
  return best;
}

const SheetMemory* FittingMemory(const ChipSheet& sheet, const ChipMarks& marks) {
  for (const SheetMemory& memory : sheet.memory) {
    if (memory.when_model_contains.empty() ||
        AnyContains(marks.texts, memory.when_model_contains)) {
      return &memory;
    }
  }
  return nullptr;
}

}  // namespace halyard::facts
