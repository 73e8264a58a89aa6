// SPDX-License-Identifier: Apache-2.0
//
// What tests of a boundary's layout share. Each gives what is wrong, or nothing.
#ifndef HALYARD_HAL_ABI_TEST_GOLDEN_H_
#define HALYARD_HAL_ABI_TEST_GOLDEN_H_

#include <set>
#include <string>
#include <vector>

#include "hal/abi/layout.h"

namespace halyard::hal {

/// First line in which `text` differs from the golden file at `path`, relative to the source tree.
/// With HALYARD_WRITE_ABI in the environment the file is written anew before.
std::string GoldenDifference(const std::string& text, const std::string& path);

/// Fields that begin later than alignment asks for: something before them is not listed.
std::vector<std::string> Holes(const std::vector<StructLayout>& structs);

/// Structs, constants and enumerators of headers that are not listed. `texts`: macros that are no
/// numbers.
std::vector<std::string> LeftOut(const std::vector<std::string>& headers,
                                 const std::vector<StructLayout>& structs,
                                 const std::vector<Constant>& constants,
                                 std::set<std::string> texts);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_ABI_TEST_GOLDEN_H_
