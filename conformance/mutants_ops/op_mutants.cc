// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants_ops/op_mutants.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "reference/reference.h"

namespace halyard::conformance {
namespace {

constexpr char kProvider[] = "mutants";

const hy_kernel_desc* g_good = nullptr;

constexpr MappedMutant kMapped[] = {
    {"A04", "HM12 HM13", "alloc claims huge pages that it did not get, or cannot back them"},
    {"A05", "HM07 HM08", "placement is reported as asked for, not as it is"},
    {"A06", "HM09 HM22", "binding reads back what was asked for; workers run elsewhere"},
    {"A07", "HM36 HM42", "a fence is signalled before the data can be seen; work out of order"},
    {"A08", "HM73 HM74 HM75", "timestamps go back, in another unit, of another clock"},
    {"R9", "HM10 HM21", "topology and teams ignore the affinity mask and the quota"},
};

const char* TypeWord(uint32_t type) { return type == HY_TYPE_NONE ? "any" : hy_type_name(type); }

// "matmul/any.q8_0.any/generic@mutants": as many words as the op's tuple has, or "any".
std::string IdOf(const OpMutant& mutant, const hy_op_desc& op) {
  std::string types;
  bool some = false;
  size_t at = 0;
  for (uint32_t i = 0; i < op.operand_count; ++i) {
    if ((op.operands[i].flags & HY_OPERAND_TYPED) == 0 || at == HY_MAX_TYPES) continue;
    some = some || mutant.desc.types[at] != HY_TYPE_NONE;
    absl::StrAppend(&types, at == 0 ? "" : ".", TypeWord(mutant.desc.types[at]));
    ++at;
  }
  const char* const variant =
      mutant.desc.isa[0] == 0 && mutant.trap == Trap::kDescriptor ? "x86_avx2_k" : "generic_k";
  return absl::StrCat(mutant.op, "/", some ? types : "any", "/", variant, "@", kProvider);
}

// The first layout of a type; canonical if there is none.
uint32_t LayoutOf(uint32_t type, const BuiltinOps& builtin) {
  for (const LayoutTableFn get : builtin.layouts) {
    uint64_t count = 0;
    const hy_layout_desc* const* const rows = get(&count);
    for (uint64_t i = 0; i < count; ++i) {
      if (rows[i]->type == type) return rows[i]->id;
    }
  }
  return HY_LAYOUT_CANONICAL;
}

}  // namespace

std::vector<OpMutant> AllOpMutants() {
  std::vector<OpMutant> all;
  for (const std::vector<OpMutant>& table :
       {MatmulMutants(), StoreMutants(), RowsMutants(), AttentionMutants(), SafetyMutants(),
        ReserveMutants()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

std::vector<OpMutant> ControlKernels() {
  std::vector<OpMutant> all;
  for (const std::vector<OpMutant>& table :
       {MatmulControls(), RowsControls(), AttentionControls(), ReserveControls()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

absl::Span<const MappedMutant> MappedHalMutants() { return kMapped; }

const hy_kernel_table* ChooseOpMutant(const OpMutant& mutant, const BuiltinOps& builtin) {
  // Descriptors live as long as the process, by the interface's rule: so does each that was chosen.
  struct Chosen {
    std::string id;
    hy_kernel_desc desc;
    const hy_kernel_desc* row;
    hy_kernel_table table;
  };
  auto* const chosen = new Chosen{};
  const hy_op_desc* op = nullptr;
  for (size_t i = 0; i < builtin.ops.size(); ++i) {
    if (builtin.ops[i]->name != std::string(mutant.op)) continue;
    op = builtin.ops[i];
    g_good = builtin.references[i]->kernel;
  }
  if (op == nullptr) return nullptr;
  chosen->id = IdOf(mutant, *op);
  chosen->desc = mutant.desc;
  chosen->desc.struct_size = sizeof chosen->desc;
  chosen->desc.contract_version = op->version;
  chosen->desc.id = chosen->id.c_str();
  chosen->desc.op = op->name;
  chosen->desc.priority = HY_PRIORITY_VENDOR;
  chosen->row = &chosen->desc;
  if (mutant.trap == Trap::kPacked) {
    chosen->desc.layout = LayoutOf(mutant.desc.types[1], builtin);
    if (chosen->desc.layout == HY_LAYOUT_CANONICAL) return nullptr;
  }
  hy_kernel_table& table = chosen->table;
  table.struct_size = sizeof table;
  table.abi_major = HY_KERNEL_ABI_MAJOR;
  table.abi_minor = HY_KERNEL_ABI_MINOR;
  table.provider = kProvider;
  table.kernels = &chosen->row;
  table.kernel_count = 1;
  return &table;
}

namespace op_mutants {

const hy_kernel_desc& Good() { return *g_good; }

hy_status RunGood(const void* args, const hy_kernel_context* context) {
  return g_good->run(args, context);
}

uint64_t GoodScratch(const void* args, uint32_t workers) {
  return g_good->scratch_bytes == nullptr ? 0 : g_good->scratch_bytes(args, workers);
}

hy_kernel_desc Plain(hy_status (*run)(const void*, const hy_kernel_context*)) {
  hy_kernel_desc desc = {};
  desc.accumulator = HY_ACC_F32;
  desc.phases = 1;
  desc.run = run;
  return desc;
}

hy_kernel_desc Typed(hy_status (*run)(const void*, const hy_kernel_context*), uint32_t a,
                     uint32_t b, uint32_t c) {
  hy_kernel_desc desc = Plain(run);
  desc.types[0] = a;
  desc.types[1] = b;
  desc.types[2] = c;
  return desc;
}

}  // namespace op_mutants
}  // namespace halyard::conformance
