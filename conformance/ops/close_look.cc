// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/close_look.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "conformance/ops/pattern.h"

namespace halyard::conformance {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;
constexpr uintptr_t kPage = 4096;

const hy_tensor& TensorOf(const Sight& sight, uint32_t operand) {
  return *hy_operand_tensor(&sight.op->operands[operand], sight.args);
}

bool IsPlain(uint32_t type) {
  const hy_type_info& facts = *hy_type_facts(type);
  return facts.block == 1 && facts.block_bytes != 0;
}

// Bytes of one element, or of a whole row for formats whose elements share bytes.
uint64_t UnitBytes(const hy_tensor& t) {
  return IsPlain(t.type) ? hy_type_facts(t.type)->block_bytes
                         : hy_type_row_bytes(t.type, hy_tensor_cols(&t));
}

/// Finds out who writes which element, by looking after each call of a worker.
class OwnerMap {
 public:
  OwnerMap(const Sight& sight, uint32_t operand) : tensor_(TensorOf(sight, operand)) {
    const auto count = static_cast<size_t>(hy_tensor_rows(&tensor_) * hy_tensor_cols(&tensor_));
    owner_.assign(count, kNobody);
    if (!sight.restore || !sight.run_again) {
      owner_.clear();
      return;
    }
    sight.restore();
    Remember();
    sight.run_again([this](uint32_t worker, uint32_t) { Look(worker); });
  }
  std::vector<uint32_t> Take() { return std::move(owner_); }

 private:
  void Remember() {
    before_.clear();
    const uint64_t row_bytes = hy_type_row_bytes(tensor_.type, hy_tensor_cols(&tensor_));
    for (int64_t r = 0; r < hy_tensor_rows(&tensor_); ++r) {
      const auto* row = static_cast<const uint8_t*>(hy_tensor_row(&tensor_, r));
      before_.insert(before_.end(), row, row + row_bytes);
    }
  }

  void Look(uint32_t worker) {
    const std::vector<uint8_t> was = before_;
    Remember();
    const uint64_t unit = UnitBytes(tensor_);
    const auto cols = static_cast<size_t>(hy_tensor_cols(&tensor_));
    const size_t per_unit = IsPlain(tensor_.type) ? 1 : cols;
    for (size_t i = 0; i * unit < before_.size() && i * per_unit < owner_.size(); ++i) {
      if (std::memcmp(&was[i * unit], &before_[i * unit], unit) == 0) continue;
      for (size_t e = 0; e < per_unit; ++e) owner_[i * per_unit + e] = worker;
    }
  }

  const hy_tensor tensor_;
  std::vector<uint8_t> before_;
  std::vector<uint32_t> owner_;
};

std::string Coordinates(const hy_tensor& t, int64_t index) {
  std::string text;
  int64_t rest = index;
  for (uint32_t i = t.rank; i-- > 0;) {
    const int64_t size = std::max<int64_t>(1, t.shape[i]);
    text = absl::StrCat("[", i == 0 ? rest : rest % size, "]", text);
    rest /= size;
  }
  return text;
}

// How many f32 fit into a register of what the kernel uses.
int64_t LanesOf(const hy_kernel_desc& kernel) {
  const auto has = [&](uint32_t bit) { return (kernel.isa[bit / 64] >> (bit % 64) & 1) != 0; };
  if (has(HY_ISA_X86_AVX512F)) return 16;
  if (has(HY_ISA_X86_AVX2) || has(HY_ISA_X86_AVX)) return 8;
  if (has(HY_ISA_ARM64_SVE) || has(HY_ISA_RISCV_V)) {
    const hy_kernel_target target = TargetHere(1);
    return std::max<int64_t>(4, target.vector_bytes / 4);
  }
  return 4;
}

std::string PlaceText(const Sight& sight, const hy_tensor& t, int64_t index, uint32_t owner) {
  const int64_t cols = std::max<int64_t>(1, hy_tensor_cols(&t));
  const int64_t col = index % cols;
  const auto* row = static_cast<const unsigned char*>(hy_tensor_row(&t, index / cols));
  const auto offset = static_cast<uintptr_t>(row - static_cast<const unsigned char*>(t.data)) +
                      static_cast<uintptr_t>(col) * UnitBytes(t);
  const int64_t lanes = LanesOf(*sight.kernel);
  std::string text = absl::StrFormat("row %d, column %d (block %d of 256, %d of 32; lane %d of %d)",
                                     index / cols, col, col / 256, col / 32, col % lanes, lanes);
  if (owner != kNobody) {
    absl::StrAppend(&text, ", worker ", owner, " of ", sight.workers);
  }
  return absl::StrCat(text, ", page ", offset / kPage);
}

std::string BadText(const Sight& sight, const OutputVerdict& out, const BadElement& bad,
                    uint32_t owner) {
  const hy_tensor& t = TensorOf(sight, out.operand);
  const char* const name = sight.op->operands[out.operand].name;
  if (bad.note == "byte") {
    const uint64_t row_bytes = hy_type_row_bytes(t.type, hy_tensor_cols(&t));
    const auto at = static_cast<uint64_t>(bad.index);
    return absl::StrFormat("%s: byte %d of row %d is %02x, expected %02x", name, at % row_bytes,
                           at / row_bytes, static_cast<unsigned>(bad.got),
                           static_cast<unsigned>(bad.want));
  }
  std::string text = absl::StrCat(name, Coordinates(t, bad.index), ": ");
  if (!bad.note.empty()) {
    text += bad.note;
  } else {
    const double error = std::abs(bad.got - bad.want);
    absl::StrAppend(
        &text, absl::StrFormat("got %.9g, expected %.9g, T %.3g", bad.got, bad.want, bad.bound));
    if (bad.bound > 0) absl::StrAppend(&text, absl::StrFormat(", error %.4g T", error / bad.bound));
    absl::StrAppend(&text, absl::StrFormat(", %.4g ulp", error / UlpOf(t.type, bad.want)));
  }
  return absl::StrCat(text, "; ", PlaceText(sight, t, bad.index, owner));
}

// Every wrong element, not only the first.
PatternInput PatternOf(const Sight& sight, const reference::ExpectedOutput& want,
                       std::vector<uint32_t> owners) {
  const hy_tensor& t = TensorOf(sight, want.operand);
  PatternInput in;
  in.cols = hy_tensor_cols(&t);
  in.got = LoadValues(t);
  in.want = want.value;
  in.owner = std::move(owners);
  in.workers = sight.workers;
  in.bad.assign(in.got.size(), 0);
  for (size_t i = 0; i < in.got.size() && i < in.want.size(); ++i) {
    const bool spared = !want.untouched.empty() && want.untouched[i] != 0;
    const double bound = want.exact || want.bound.empty() ? 0 : want.bound[i];
    const double value = bound == 0 && hy_type_is_float(t.type)
                             ? reference::RoundTo(t.type, in.want[i])
                             : in.want[i];
    const bool same = std::isnan(value)
                          ? std::isnan(in.got[i])
                          : in.got[i] == value || std::abs(in.got[i] - value) <= bound;
    in.bad[i] = spared || same ? 0 : 1;
  }
  return in;
}

void AddFinding(std::string text, CaseResult* inout_result) {
  inout_result->findings.push_back({std::move(text), "", 0});
}

}  // namespace

void TellBadElements(const Sight& sight, const Judgement& judgement,
                     const reference::Expected& expected, CaseResult* inout_result) {
  for (size_t i = 0; i < judgement.outputs.size(); ++i) {
    const OutputVerdict& out = judgement.outputs[i];
    if (out.bad == 0) continue;
    // The kernel runs again here, so its outputs are those of the failure once more.
    std::vector<uint32_t> owners = OwnerMap(sight, out.operand).Take();
    for (const BadElement& bad : out.first_bad) {
      const auto at = static_cast<size_t>(bad.index);
      const bool known = bad.note != "byte" && at < owners.size();
      AddFinding(BadText(sight, out, bad, known ? owners[at] : kNobody), inout_result);
    }
    const reference::ExpectedOutput& want = expected.outputs[i];
    if (want.value.empty()) continue;
    for (const std::string& pattern : FindPatterns(PatternOf(sight, want, std::move(owners)))) {
      AddFinding(absl::StrCat("pattern: ", pattern), inout_result);
    }
  }
}

void LookClosely(const OpCaseRun& run, CaseResult* inout_result) {
  if (run.fixture() == nullptr) return;
  inout_result->facts.emplace_back("inputs",
                                   absl::StrJoin(run.fixture()->memory().InputDigests(), " "));
  if (run.kernel() == nullptr || run.expected() == nullptr || run.judgement().holds()) return;
  Sight sight;
  sight.op = &run.kernel()->op().desc();
  sight.kernel = &run.kernel()->desc();
  sight.args = run.fixture()->args();
  sight.workers = run.Mode().workers;
  sight.restore = [&] { run.fixture()->memory().Reset(kPoisonNan); };
  sight.run_again = [&](const Sight::AfterWorkerFn& after_worker) {
    RunSequentially(run.Call(*run.fixture()), run.Mode(), after_worker);
  };
  TellBadElements(sight, run.judgement(), *run.expected(), inout_result);
}

}  // namespace halyard::conformance
