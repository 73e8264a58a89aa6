// SPDX-License-Identifier: Apache-2.0
//
// What a child was doing when it died: memory shared with the parent, in which the child notes the
// verb that each of its threads is in, the step of a case, and memory that it missed.
#ifndef HALYARD_CONFORMANCE_CRUMBS_H_
#define HALYARD_CONFORMANCE_CRUMBS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hal/loader.h"

namespace halyard::conformance {

/// Makes the shared memory; called once by the parent, before it forks. Later calls only clear it.
void PrepareCrumbs();

/// In a forked process that forks others: shared memory of its own, apart from its parent's.
void SeparateCrumbs();

/// The verbs that were entered and not left, such as "map, fence_wait"; empty if there are none.
std::string CallsInFlight();

/// In the child: the step of the case that begins now, in words.
void NoteStep(absl::string_view step);
/// In the child, also in a signal handler: memory was touched that is nobody's.
void NoteMemoryFault(const char* what);
/// In the parent. Empty if nothing was noted since PrepareCrumbs.
std::string StepInFlight();
std::string MemoryFault();

/// The port with a note around each verb. Verbs that `port` leaves NULL stay NULL. One such port in
/// a process: verbs have no room for state of a wrapper.
std::shared_ptr<hal::Port> WithCrumbs(std::shared_ptr<hal::Port> port);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_CRUMBS_H_
