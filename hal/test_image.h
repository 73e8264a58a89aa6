// SPDX-License-Identifier: Apache-2.0
//
// For tests: small machines, written in the test.
#ifndef HALYARD_HAL_TEST_IMAGE_H_
#define HALYARD_HAL_TEST_IMAGE_H_

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hal/system_view.h"

namespace halyard::hal {

/// The image of `lines` after the directives that every image needs. A mistake in them ends the
/// test program with the parser's message.
inline std::shared_ptr<const SystemView> TestImage(absl::string_view lines,
                                                   absl::string_view arch = "x86_64") {
  return ParseSystemImage(absl::StrCat("@machine made for a test\n@arch ", arch, "\n", lines))
      .value();
}

}  // namespace halyard::hal

#endif  // HALYARD_HAL_TEST_IMAGE_H_
