// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/fixture.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "conformance/golden/expectation.h"

namespace halyard::conformance {
namespace {

bool IsWritten(const hy_operand& operand) { return (operand.flags & HY_OPERAND_WRITE) != 0; }

uint64_t RowBytes(const hy_tensor& t) { return hy_type_row_bytes(t.type, hy_tensor_cols(&t)); }

// Payload and sign of a NaN are nobody's promise.
template <typename Word>
void UnifyNans(uint8_t* row, uint64_t bytes, Word infinity) {
  constexpr auto kMagnitude = static_cast<Word>(static_cast<Word>(~Word{0}) >> 1);
  for (uint64_t i = 0; i < bytes; i += sizeof(Word)) {
    Word word;
    std::memcpy(&word, row + i, sizeof word);
    if ((word & kMagnitude) > infinity) std::memset(row + i, kPoisonNan, sizeof word);
  }
}

}  // namespace

void AppendRow(const hy_tensor& tensor, int64_t row, std::vector<uint8_t>* bytes) {
  const auto* at = static_cast<const uint8_t*>(hy_tensor_row(&tensor, row));
  const uint64_t row_bytes = RowBytes(tensor);
  bytes->insert(bytes->end(), at, at + row_bytes);
  if (row_bytes == 0) return;
  uint8_t* const copy = bytes->data() + bytes->size() - row_bytes;
  if (tensor.type == HY_TYPE_F32) UnifyNans<uint32_t>(copy, row_bytes, 0x7f800000u);
  if (tensor.type == HY_TYPE_F16) UnifyNans<uint16_t>(copy, row_bytes, 0x7c00);
  if (tensor.type == HY_TYPE_BF16) UnifyNans<uint16_t>(copy, row_bytes, 0x7f80);
}

absl::StatusOr<std::unique_ptr<Fixture>> Fixture::Make(const TestedOp& op, const ops::Case& c,
                                                       const hy_layout_desc* layout, GuardSide side,
                                                       const Fixture* twin) {
  std::unique_ptr<Fixture> fixture(new Fixture(op, c));
  fixture->builder_ = std::make_unique<GuardedBuilder>(
      &fixture->case_, side, layout, twin == nullptr ? nullptr : twin->builder_.get());
  fixture->words_.assign((op.op->desc().args_bytes + 7) / 8, 0);
  HY_RETURN_IF_ERROR(fixture->builder_->status());
  const absl::Status built =
      op.cases->build(fixture->case_, *fixture->builder_, fixture->words_.data());
  HY_RETURN_IF_ERROR(fixture->builder_->status());
  HY_RETURN_IF_ERROR(built);
  hy_why why = {};
  if (op.op->desc().validate(fixture->args(), &why) != HY_OK) {
    return absl::InvalidArgumentError(
        absl::StrCat("the op's contract refuses the case's args: ", why.text));
  }
  return fixture;
}

std::vector<uint64_t> Fixture::CanonicalArgs() const {
  std::vector<uint64_t> copy = words_;
  for (size_t i = 0; i < op_.op->operands().size(); ++i) {
    hy_tensor& tensor = op_.op->tensor(i, copy.data());
    if (tensor.layout != HY_LAYOUT_CANONICAL) tensor = builder_->Canonical(tensor);
  }
  return copy;
}

std::vector<uint8_t> Fixture::Snapshot() const {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < op_.op->operands().size(); ++i) {
    const hy_tensor& tensor = op_.op->tensor(i, args());
    if (!IsWritten(op_.op->operands()[i]) || !hy_tensor_present(&tensor)) continue;
    if (ops::SpanBytes(tensor) == 0) continue;
    for (int64_t r = 0; r < hy_tensor_rows(&tensor); ++r) AppendRow(tensor, r, &bytes);
  }
  return bytes;
}

std::string Fixture::Difference(const std::vector<uint8_t>& a,
                                const std::vector<uint8_t>& b) const {
  if (a.size() != b.size()) return "another number of bytes";
  const auto at = std::mismatch(a.begin(), a.end(), b.begin());
  if (at.first == a.end()) return "";
  auto offset = static_cast<uint64_t>(at.first - a.begin());
  for (size_t i = 0; i < op_.op->operands().size(); ++i) {
    const hy_tensor& tensor = op_.op->tensor(i, args());
    if (!IsWritten(op_.op->operands()[i]) || !hy_tensor_present(&tensor)) continue;
    if (ops::SpanBytes(tensor) == 0) continue;
    const uint64_t bytes = RowBytes(tensor) * static_cast<uint64_t>(hy_tensor_rows(&tensor));
    if (offset < bytes) {
      return absl::StrFormat("%s, row %d, byte %d: %02x and %02x", op_.op->operands()[i].name,
                             offset / RowBytes(tensor), offset % RowBytes(tensor), *at.first,
                             *at.second);
    }
    offset -= bytes;
  }
  return "a byte of no operand";
}

void FixtureCache::Clear() {
  fixtures_.clear();
  known_.clear();
  looked_up_ = false;
  case_text_.clear();
}

absl::StatusOr<Fixture*> FixtureCache::Get(const TestedOp& op, const ops::Case& c,
                                           const hy_layout_desc* layout, GuardSide side) {
  const std::string text = ops::CaseText(c);
  if (text != case_text_) {
    Clear();
    case_text_ = text;
  }
  const std::string layout_key = absl::StrCat(layout == nullptr ? 0 : layout->id);
  const std::string key = absl::StrCat(layout_key, side == GuardSide::kAfter ? "/a" : "/b");
  const Fixture* twin = nullptr;
  for (const Entry& entry : fixtures_) {
    if (entry.key == key) return entry.fixture.get();
    if (absl::string_view(entry.key).substr(0, layout_key.size() + 1) ==
        absl::StrCat(layout_key, "/")) {
      twin = entry.fixture.get();
    }
  }
  HY_ASSIGN_OR_RETURN(std::unique_ptr<Fixture> fixture, Fixture::Make(op, c, layout, side, twin));
  fixtures_.push_back({key, std::move(fixture)});
  return fixtures_.back().fixture.get();
}

absl::Status FixtureCache::LookUp(const Fixture& fixture) {
  if (golden_ == nullptr || looked_up_) return absl::OkStatus();
  looked_up_ = true;
  const std::vector<uint64_t> args = fixture.CanonicalArgs();
  HY_ASSIGN_OR_RETURN(std::vector<GoldenExpectation> all,
                      ReadExpectations(*golden_, fixture.op(), args.data()));
  for (GoldenExpectation& one : all) {
    known_.push_back(
        {one.numerics, std::make_unique<reference::Expected>(std::move(one.expected)), true});
  }
  return absl::OkStatus();
}

const reference::Expected* FixtureCache::Find(const reference::Numerics& numerics) const {
  for (const Known& known : known_) {
    if (SameNumerics(known.numerics, numerics)) return known.expected.get();
  }
  return nullptr;
}

bool FixtureCache::IsGolden(const reference::Expected* expected) const {
  return std::any_of(known_.begin(), known_.end(), [expected](const Known& known) {
    return known.golden && known.expected.get() == expected;
  });
}

absl::StatusOr<const reference::Expected*> FixtureCache::Expect(
    const Fixture& fixture, const reference::Numerics& numerics) {
  HY_RETURN_IF_ERROR(LookUp(fixture));
  if (const reference::Expected* const known = Find(numerics); known != nullptr) return known;
  const std::vector<uint64_t> args = fixture.CanonicalArgs();
  HY_ASSIGN_OR_RETURN(reference::Expected expected,
                      ComputeExpectation(fixture.op(), args.data(), numerics));
  known_.push_back({numerics, std::make_unique<reference::Expected>(std::move(expected)), false});
  return known_.back().expected.get();
}

}  // namespace halyard::conformance
