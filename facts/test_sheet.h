// SPDX-License-Identifier: Apache-2.0
//
// For tests: the sheet of a chip with four cores that is nowhere.
#ifndef HALYARD_FACTS_TEST_SHEET_H_
#define HALYARD_FACTS_TEST_SHEET_H_

#include "facts/chip_sheet.h"

namespace halyard::facts {

inline ChipSheet TestSheet() {
  ChipSheet sheet;
  sheet.id = "acme_x1";
  sheet.name = "Acme X1";
  sheet.kind = SheetKind::kChip;
  sheet.match.arch = "aarch64";
  sheet.core_classes.push_back({"core", "Acme One", 4, std::nullopt, 1});
  sheet.isa = {"asimd", "asimddp"};
  sheet.nodes_per_socket = {1};
  sheet.base_page_bytes = {4096};
  return sheet;
}

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_TEST_SHEET_H_
