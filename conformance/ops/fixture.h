// SPDX-License-Identifier: Apache-2.0
//
// A case ready to run: its args in guarded memory, and what must come out. Made once and used by all
// kernels of the case that run one after the other in a process.
#ifndef HALYARD_CONFORMANCE_OPS_FIXTURE_H_
#define HALYARD_CONFORMANCE_OPS_FIXTURE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/golden/golden_pack.h"
#include "conformance/ops/guarded_builder.h"
#include "conformance/ops/under_test.h"

namespace halyard::conformance {

class Fixture {
 public:
  /// Builds the case with guards on one side. `twin`: of the same case and layout, to copy from.
  /// Errors   as GuardedBuilder and OpCases::build; INVALID_ARGUMENT: the contract refuses the args.
  static absl::StatusOr<std::unique_ptr<Fixture>> Make(const TestedOp& op, const ops::Case& c,
                                                       const hy_layout_desc* layout, GuardSide side,
                                                       const Fixture* twin = nullptr);

  GuardedBuilder& memory() { return *builder_; }
  const GuardedBuilder& memory() const { return *builder_; }
  const void* args() const { return words_.data(); }
  void* args() { return words_.data(); }
  const TestedOp& op() const { return op_; }

  /// Args with canonical weights in place of packed ones, as references read them.
  std::vector<uint64_t> CanonicalArgs() const;

  /// Outputs as they are now, row after row, operand after operand.
  std::vector<uint8_t> Snapshot() const;
  /// Where two snapshots first differ: "y, row 3, byte 8: 1f and 20"; empty if they do not.
  std::string Difference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) const;

 private:
  Fixture(const TestedOp& op, const ops::Case& c) : op_(op), case_(c) {}

  const TestedOp op_;
  const ops::Case case_;
  std::unique_ptr<GuardedBuilder> builder_;
  std::vector<uint64_t> words_;  // the args
};

/// Appends a row of an output as it is compared: bit by bit, but every NaN of a float type the same.
void AppendRow(const hy_tensor& tensor, int64_t row, std::vector<uint8_t>* bytes);

/// Fixtures and expectations of the case that is at hand: kernels of one case follow each other.
class FixtureCache {
 public:
  /// Takes expectations from `golden` where it has them; borrowed, may be NULL.
  explicit FixtureCache(const GoldenPack* golden = nullptr) : golden_(golden) {}

  absl::StatusOr<Fixture*> Get(const TestedOp& op, const ops::Case& c, const hy_layout_desc* layout,
                               GuardSide side);
  /// What `numerics` (NumericsOf) must give; `fixture` is as before a run.
  /// Errors   as ReferenceOp::expect; INVALID_ARGUMENT: an entry of the pack is damaged.
  absl::StatusOr<const reference::Expected*> Expect(const Fixture& fixture,
                                                    const reference::Numerics& numerics);
  const GoldenPack* golden() const { return golden_; }
  /// True if the pack has it, false if it was computed.
  bool IsGolden(const reference::Expected* expected) const;
  void Clear();

 private:
  struct Entry {
    std::string key;
    std::unique_ptr<Fixture> fixture;
  };
  struct Known {
    reference::Numerics numerics;
    std::unique_ptr<reference::Expected> expected;
    bool golden = false;
  };
  absl::Status LookUp(const Fixture& fixture);
  const reference::Expected* Find(const reference::Numerics& numerics) const;

  const GoldenPack* const golden_;
  std::string case_text_;
  std::vector<Entry> fixtures_;
  std::vector<Known> known_;
  bool looked_up_ = false;  // what the pack has of the case is in known_
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_FIXTURE_H_
