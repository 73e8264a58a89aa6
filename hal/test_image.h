// SPDX-License-Identifier: Apache-2.0
//
// For tests: small machines, written in the test.
#ifndef HALYARD_HAL_TEST_IMAGE_H_
#define HALYARD_HAL_TEST_IMAGE_H_

#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hal/system_view.h"

namespace halyard::hal {

/// The image of `lines` after the directives that every image needs; an empty one on a mistake.
inline std::shared_ptr<const SystemView> TestImage(absl::string_view lines,
                                                   absl::string_view arch = "x86_64") {
  const absl::string_view machine = "@machine made for a test\n@arch ";
  auto view = ParseSystemImage(absl::StrCat(machine, arch, "\n", lines));
  if (!view.ok()) {
    ADD_FAILURE() << view.status();
    view = ParseSystemImage(absl::StrCat(machine, arch, "\n"));
  }
  return *view;
}

}  // namespace halyard::hal

#endif  // HALYARD_HAL_TEST_IMAGE_H_
