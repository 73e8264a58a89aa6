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
  absl::StatusOr<Fixture*> Get(const TestedOp& op, const ops::Case& c, const hy_layout_desc* layout,
                               GuardSide side);
  /// What `numerics` must give. Errors   as ReferenceOp::expect.
  absl::StatusOr<const reference::Expected*> Expect(const Fixture& fixture,
                                                    const reference::Numerics& numerics);
  void Clear();

 private:
  struct Entry {
    std::string key;
    std::unique_ptr<Fixture> fixture;
  };
  struct Known {
    reference::Numerics numerics;
    std::unique_ptr<reference::Expected> expected;
  };
  std::string case_text_;
  std::vector<Entry> fixtures_;
  std::vector<Known> known_;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_FIXTURE_H_
