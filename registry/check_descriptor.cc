// SPDX-License-Identifier: Apache-2.0
#include "registry/check_descriptor.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace halyard::registry {
namespace {

constexpr uint32_t kMaxArgsBytes = 4096;
constexpr uint32_t kMaxPhases = 8;
constexpr uint32_t kFirstVendorLayout = 0x10000;
constexpr size_t kMaxWord = 63;

bool IsType(uint32_t type) { return hy_type_facts(type)->block != 0; }

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::string CheckOperand(const hy_op_desc& op, const hy_operand& operand) {
  constexpr uint32_t kKnown = HY_OPERAND_READ | HY_OPERAND_WRITE | HY_OPERAND_OPTIONAL |
                              HY_OPERAND_WEIGHTS | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE |
                              HY_OPERAND_SLICE(0, 15) | HY_OPERAND_SLICE(1, 15);
  if (operand.name == nullptr || !IsWord(operand.name)) return "has an operand without a name";
  const std::string name = absl::StrCat("operand ", operand.name);
  if (operand.offset < sizeof(uint32_t) || operand.offset % alignof(hy_tensor) != 0 ||
      operand.offset > op.args_bytes - sizeof(hy_tensor)) {
    return absl::StrCat(name, " at offset ", operand.offset, " is no hy_tensor within its args");
  }
  if ((operand.flags & ~kKnown) != 0) {
    return absl::StrCat(name, " has flags that this Halyard does not know");
  }
  if ((operand.flags & (HY_OPERAND_READ | HY_OPERAND_WRITE)) == 0) {
    return absl::StrCat(name, " is neither read nor written");
  }
  for (uint32_t group = 0; group < HY_SLICE_GROUPS; ++group) {
    if (HY_OPERAND_SLICE_AXIS(operand.flags, group) > HY_MAX_RANK)
      return absl::StrCat(name, " has a slice axis beyond the rank of tensors");
  }
  return "";
}

std::string CheckOperands(const hy_op_desc& op) {
  if (op.operands == nullptr || op.operand_count == 0 || op.operand_count > HY_MAX_OPERANDS) {
    return absl::StrCat("has ", op.operand_count, " operands: it must list 1 to ", HY_MAX_OPERANDS);
  }
  uint32_t typed = 0;
  uint32_t written = 0;
  std::set<std::string> names;
  for (uint32_t i = 0; i < op.operand_count; ++i) {
    const hy_operand& operand = op.operands[i];
    const std::string fault = CheckOperand(op, operand);
    if (!fault.empty()) return fault;
    if (!names.insert(operand.name).second) return absl::StrCat("has two operands ", operand.name);
    typed += (operand.flags & HY_OPERAND_TYPED) != 0 ? 1u : 0u;
    written += (operand.flags & HY_OPERAND_WRITE) != 0 ? 1u : 0u;
  }
  if (typed > HY_MAX_TYPES) {
    return absl::StrCat("has ", typed, " TYPED operands; at most ", HY_MAX_TYPES, " make a tuple");
  }
  return written == 0 ? "writes no operand" : "";
}

// "matmul/f32.q8_0.f32/x86_avx2@halyard"
std::string CheckId(const hy_kernel_desc& kernel, const hy_op_desc& op,
                    absl::string_view provider) {
  if (kernel.id == nullptr) return "has no id";
  const std::vector<absl::string_view> parts = absl::StrSplit(kernel.id, '/');
  const std::vector<absl::string_view> tail = absl::StrSplit(parts.back(), '@');
  if (parts.size() != 3 || tail.size() != 2 || !IsWord(tail[0]) || !IsWord(tail[1])) {
    return "has an id that is not op/types/variant@provider in lower-case letters, digits, '_', "
           "'.'";
  }
  if (parts[0] != op.name) return absl::StrCat("has an id of op ", parts[0], ", but op ", op.name);
  const std::string types = TypesText(op, kernel.types);
  if (parts[1] != types) {
    return absl::StrCat("has an id of types ", parts[1], ", but its types are ", types);
  }
  if (tail[1] != provider) {
    return absl::StrCat("has an id of provider ", tail[1], " in a table of ", provider);
  }
  return "";
}

std::string CheckTypes(const hy_kernel_desc& kernel, const hy_op_desc& op) {
  uint32_t typed = 0;
  for (uint32_t i = 0; i < op.operand_count; ++i)
    typed += (op.operands[i].flags & HY_OPERAND_TYPED) != 0 ? 1u : 0u;
  for (uint32_t i = 0; i < HY_MAX_TYPES; ++i) {
    if (kernel.types[i] == HY_TYPE_NONE) continue;
    if (!IsType(kernel.types[i]))
      return absl::StrCat("has types[", i, "] = ", kernel.types[i], ", which is no type");
    if (i >= typed) {
      return absl::StrCat("has types[", i, "], but ", op.name, " has ", typed, " TYPED operands");
    }
  }
  return "";
}

std::string CheckParams(const hy_kernel_desc& kernel) {
  if (kernel.param_count > HY_MAX_PARAMS) {
    return absl::StrCat("has ", kernel.param_count, " parameters; at most ", HY_MAX_PARAMS);
  }
  if (kernel.param_count > 0 && kernel.params == nullptr) return "has parameters, but params NULL";
  std::set<std::string> names;
  for (uint32_t i = 0; i < kernel.param_count; ++i) {
    const hy_tuning_param& param = kernel.params[i];
    if (param.name == nullptr || !IsWord(param.name))
      return absl::StrCat("has a parameter ", i, " without a name");
    if (!names.insert(param.name).second) return absl::StrCat("has two parameters ", param.name);
    if (param.values == nullptr || param.value_count == 0) {
      return absl::StrCat("has a parameter ", param.name,
                          " without values: the first one is its default");
    }
    const std::set<int64_t> values(param.values, param.values + param.value_count);
    if (values.size() != param.value_count)
      return absl::StrCat("lists a value of parameter ", param.name, " twice");
  }
  return "";
}

std::string CheckNumbers(const hy_kernel_desc& kernel) {
  constexpr uint64_t kKnownFlags =
      HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT | HY_KERNEL_FTZ | HY_KERNEL_REFERENCE;
  constexpr int32_t kEndOfPriority = HY_PRIORITY_VENDOR + 1000;
  const bool is_reference = (kernel.flags & HY_KERNEL_REFERENCE) != 0;
  if ((kernel.flags & ~kKnownFlags) != 0) return "has flags that this Halyard does not know";
  if (kernel.phases == 0 || kernel.phases > kMaxPhases)
    return absl::StrCat("has ", kernel.phases, " phases; 1 to ", kMaxPhases, " are run");
  if (kernel.activation >= HY_QA_COUNT)
    return absl::StrCat("has activation class ", kernel.activation, ", which is none of HY_QA_*");
  if (kernel.accumulator > HY_ACC_BF16)
    return absl::StrCat("has accumulator ", kernel.accumulator, ", which is none of HY_ACC_*");
  if (kernel.priority < 0 || kernel.priority >= kEndOfPriority)
    return absl::StrCat("has priority ", kernel.priority, ", not within 0..", kEndOfPriority - 1);
  if (is_reference != (kernel.priority < HY_PRIORITY_GENERIC)) {
    return absl::StrCat("has priority ", kernel.priority, ": those below ", HY_PRIORITY_GENERIC,
                        " are for references, and for them only");
  }
  return "";
}

// What is tried last must take everything that the contract allows, on any machine.
std::string CheckReference(const hy_kernel_desc& kernel) {
  if (std::any_of(kernel.types, kernel.types + HY_MAX_TYPES, [](uint32_t t) { return t != 0; }))
    return "is a reference for some types only: it must take all";
  if (kernel.isa[0] != 0 || kernel.isa[1] != 0) return "is a reference that needs an ISA extension";
  if (kernel.supports != nullptr) return "is a reference with a predicate: it must take all args";
  if (kernel.layout != HY_LAYOUT_CANONICAL) return "is a reference that needs packed weights";
  if (kernel.activation != HY_QA_ANY) return "is a reference with an activation class of its own";
  return "";
}

}  // namespace

bool IsWord(absl::string_view text) {
  if (text.empty() || text.size() > kMaxWord || text[0] < 'a' || text[0] > 'z') return false;
  return std::all_of(text.begin(), text.end(), IsWordCharacter);
}

std::string TypesText(const hy_op_desc& op, const uint32_t types[HY_MAX_TYPES]) {
  std::vector<std::string> words;
  bool any_named = false;
  for (uint32_t i = 0; i < op.operand_count && words.size() < HY_MAX_TYPES; ++i) {
    if ((op.operands[i].flags & HY_OPERAND_TYPED) == 0) continue;
    const uint32_t type = types[words.size()];
    any_named = any_named || type != HY_TYPE_NONE;
    words.emplace_back(type == HY_TYPE_NONE ? "any" : hy_type_name(type));
  }
  return any_named ? absl::StrJoin(words, ".") : "any";
}

std::string CheckOp(const hy_op_desc& op) {
  if (op.name == nullptr || !IsWord(op.name)) return "has no name in lower-case letters";
  if (op.version == 0) return "has contract version 0: versions begin at 1";
  if (op.args_bytes < sizeof(uint32_t) + sizeof(hy_tensor) || op.args_bytes > kMaxArgsBytes) {
    return absl::StrCat("has args of ", op.args_bytes, " bytes; up to ", kMaxArgsBytes,
                        " and at least one tensor are taken");
  }
  if (op.validate == nullptr) return "has no validate";
  if (op.flops == nullptr) return "has no flops";
  if (op.activation_offset % alignof(uint32_t) != 0 ||
      op.activation_offset > op.args_bytes - sizeof(uint32_t)) {
    return absl::StrCat("has activation_offset ", op.activation_offset, ", outside its args");
  }
  return CheckOperands(op);
}

std::string CheckLayout(const hy_layout_desc& layout, absl::string_view provider, bool built_in) {
  if (layout.name == nullptr || layout.name[0] == '\0') return "has no name";
  const std::vector<absl::string_view> parts = absl::StrSplit(layout.name, '@');
  if (parts.size() != 2 || parts[1] != provider) {
    return absl::StrCat("has a name that does not end in @", provider);
  }
  if (layout.id == HY_LAYOUT_CANONICAL) return "has id 0, which is the canonical layout";
  if (built_in != (layout.id < kFirstVendorLayout)) {
    return absl::StrCat("has id ", layout.id, ": those below ", kFirstVendorLayout,
                        " are Halyard's own, those above are for others");
  }
  if (!IsType(layout.type)) return absl::StrCat("packs type ", layout.type, ", which is none");
  if (layout.supports == nullptr || layout.packed_bytes == nullptr || layout.pack == nullptr ||
      layout.unpack == nullptr) {
    return "lacks a function: supports, packed_bytes, pack and unpack are all needed, so that the "
           "canonical numbers can be had again";
  }
  return "";
}

std::string CheckKernel(const hy_kernel_desc& kernel, const hy_op_desc& op,
                        absl::string_view provider) {
  std::string fault = CheckTypes(kernel, op);
  if (fault.empty()) fault = CheckId(kernel, op, provider);
  if (fault.empty() && kernel.contract_version != op.version) {
    fault = absl::StrCat(
        "is written for contract ", kernel.contract_version, " of ", op.name,
        ", and this Halyard has ", op.version, ": ",
        kernel.contract_version > op.version ? "update Halyard" : "build the kernel anew");
  }
  if (fault.empty() && kernel.run == nullptr) fault = "has no run";
  if (fault.empty()) fault = CheckNumbers(kernel);
  if (fault.empty()) fault = CheckParams(kernel);
  if (fault.empty() && op.activation_offset == 0 && kernel.activation != HY_QA_ANY)
    fault = absl::StrCat("has an activation class, but ", op.name, " has no such choice");
  if (fault.empty() && (kernel.flags & HY_KERNEL_REFERENCE) != 0) fault = CheckReference(kernel);
  return fault;
}

}  // namespace halyard::registry
