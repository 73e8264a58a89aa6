// SPDX-License-Identifier: Apache-2.0
//
// Whatever the files of a machine hold, each finding has an id and a title.
#include "facts/findings.h"

#include <cstddef>
#include <cstdint>

#include "facts/activity.h"
#include "facts/test_sheet.h"
#include "hal/system_view.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard;
  const auto view =
      hal::ParseSystemImage(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!view.ok()) return 0;
  const hal::Topology topology = hal::ReadTopology(**view, false);
  const hal::Topology whole = hal::ReadTopology(**view, true);
  const facts::ChipSheet sheet = facts::TestSheet();
  facts::Machine machine;
  machine.view = view->get();
  machine.topology = &topology;
  machine.whole = &whole;
  machine.sheet = &sheet;
  machine.marks = facts::ReadChipMarks(**view, topology);
  for (const facts::Finding& finding : facts::LookAtAll(machine)) {
    if (finding.id.empty() || finding.title.empty()) __builtin_trap();
  }
  facts::LookAtLoad(**view, whole);
  facts::LookAtActivity(facts::Activity(), facts::ReadActivity(**view), 1);
  return 0;
}
