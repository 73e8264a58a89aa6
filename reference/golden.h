// SPDX-License-Identifier: Apache-2.0
//
// Golden vectors: inputs and results computed by code that is not ours (tools/vectors), committed as
// text in reference/testdata. For tests only.
//
// A file is words between blanks; a line that begins with '#' is a comment, of which the first ones
// say where the numbers come from:
//   case NAME
//   eps = 1e-05                                     a number
//   x : f32 [ 2 3 ] 0.5 -1.25 3.0 0.0 1.0 2.0       a tensor, row after row
//   w : q8_0 [ 1 32 ] hex 003c7f00 ...              the same as bytes, little-endian
//   y : f64 [ 2 3 ] ...                             a result in f64: has values, no view
// Use:
//   for (const GoldenCase& c : ReadGolden("softmax")) {
//     SCOPED_TRACE(c.name());
//     hy_softmax_args args = {};
//     args.scale = static_cast<float>(c.number("scale"));
//     args.x = c.tensor("x").view();      // memory of the case, as the type says, host order
//     ... run Expect; then
//     EXPECT_EQ(FirstDifference(expected.outputs[0].value, c.tensor("y"), 1e-14), "");
//   }
#ifndef HALYARD_REFERENCE_GOLDEN_H_
#define HALYARD_REFERENCE_GOLDEN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "halyard/tensor.h"

namespace halyard::reference {

struct GoldenTensor {
  uint32_t type = HY_TYPE_NONE;  ///< NONE for f64
  std::vector<int64_t> shape;
  std::vector<double> values;  ///< of all elements; formats decoded
  std::vector<uint64_t> memory;

  /// Dense, in `memory`. Absent for f64.
  hy_tensor view() const;
};

class GoldenCase {
 public:
  explicit GoldenCase(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  bool has(const std::string& name) const {
    return tensors_.count(name) + numbers_.count(name) != 0;
  }
  /// Throw std::out_of_range for what the case does not have.
  double number(const std::string& name) const { return numbers_.at(name); }
  const GoldenTensor& tensor(const std::string& name) const { return tensors_.at(name); }
  /// view() of a tensor, absent if the case has none of that name.
  hy_tensor view(const std::string& name) const {
    return tensors_.count(name) != 0 ? tensors_.at(name).view() : hy_tensor{};
  }
  void Add(const std::string& name, double number) { numbers_[name] = number; }
  void Add(const std::string& name, GoldenTensor tensor) { tensors_[name] = std::move(tensor); }

 private:
  std::string name_;
  std::map<std::string, double> numbers_;
  std::map<std::string, GoldenTensor> tensors_;
};

/// Cases of a text. A text that is not as said above gives one case named "malformed: ..." at the
/// place, which has nothing.
std::vector<GoldenCase> ParseGolden(absl::string_view text);

/// Cases of reference/testdata/NAME.golden; one named "missing: ..." if there is no such file.
std::vector<GoldenCase> ReadGolden(const std::string& name);

/// The first element of `got` that is off `want` by more than `relative` times the larger of its own
/// magnitude and the mean magnitude of `want`; NaN and infinities must be equal. Empty if none is.
std::string FirstDifference(const std::vector<double>& got, const GoldenTensor& want,
                            double relative);

}  // namespace halyard::reference

#endif  // HALYARD_REFERENCE_GOLDEN_H_
