// SPDX-License-Identifier: Apache-2.0
//
// What matmul and matmul_id share: rows of activations as a numerics class rounds them, and the
// verdict on one sum of products: its value, how far off a kernel may be, and whether it may at all.
#ifndef HALYARD_REFERENCE_CONTRACTION_H_
#define HALYARD_REFERENCE_CONTRACTION_H_

#include <cstdint>
#include <vector>

#include "reference/reference.h"

namespace halyard::reference {

/// HY_QA_* in which rows of x enter the product: NONE for x that is quantised already, else the
/// kernel's, else what the args allow, else NONE.
uint32_t ActivationClass(uint32_t allowed, uint32_t declared, uint32_t x_type);

/// Doubles of room that LoadActivations works in.
int64_t ActivationTemporaries(int64_t cols);
/// A row of x as doubles, rounded by the class.
void LoadActivations(const hy_tensor& x, int64_t row, uint32_t activation, double* temporaries,
                     double* out);

/// Elements that share a lowest place, for telling which sums are exact.
inline constexpr int64_t kPlaceBlock = 32;

/// One row of an operand, with the place of the lowest bit set in each block.
struct Terms {
  std::vector<double> value;
  /// Of formats with an offset or minimums, the part of `value` that a kernel may sum apart; else
  /// empty.
  std::vector<double> offset;
  std::vector<int> place;

  void LoadInput(const hy_tensor& x, int64_t row, uint32_t activation);
  void LoadWeights(const hy_tensor& w, int64_t row);
};

/// Judges the outputs of one run, each a sum of products, or 0 where none is set.
class ContractionJudge {
 public:
  ContractionJudge(const Numerics& numerics, uint32_t activation, const hy_tensor& x,
                   uint32_t w_type, const hy_tensor& y);

  /// Element `output` of y, counted over rows and columns, is x . w + bias.
  void Set(size_t output, const Terms& x, const Terms& w, double bias);
  /// Puts outputs and sampled terms to `out`, as operand `operand`.
  void Finish(uint32_t operand, Expected* out);

 private:
  struct Sums {
    double total = 0;    // of all products and the bias
    double parts = 0;    // magnitudes of the sums that may be formed apart
    double squares = 0;  // of products
    double magnitudes = 0;
    int place = 0;  // of the lowest bit of any product
  };
  struct Sample {
    size_t output;
    double product;
  };

  Sums SumOf(const Terms& x, const Terms& w, double bias) const;
  bool IsExact(const Sums& sums) const;
  double BoundOf(const Sums& sums, int64_t terms) const;
  void TakeSamples(const Terms& x, const Terms& w, size_t output);
  bool Visible(const Sample& sample) const;

  const Numerics numerics_;
  const hy_tensor y_;
  const bool whole_row_sums_;  // one integer sum for the row, without scales inside
  const int scale_levels_;
  const size_t sample_step_;
  ExpectedOutput out_{0};
  std::vector<uint8_t> exact_;
  std::vector<Sample> samples_;
};

}  // namespace halyard::reference

#endif  // HALYARD_REFERENCE_CONTRACTION_H_
