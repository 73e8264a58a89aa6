// SPDX-License-Identifier: Apache-2.0
//
// Where a run takes place, as far as its verdicts depend on it.
#ifndef HALYARD_CONFORMANCE_MACHINE_H_
#define HALYARD_CONFORMANCE_MACHINE_H_

#include <string>
#include <utility>
#include <vector>

namespace halyard::conformance {

/// True under a user-mode emulator. The emulator is the program that the kernel really runs, so
/// what /proc/thread-self/exe links to and which machine it is built for give it away; emulators
/// rewrite /proc/self but not that name. The result is found once.
bool IsEmulated();

/// How much slower than a native optimised program on an idle machine this one may be: a factor for
/// deadlines. Found once, so a child has that of its parent.
double NaturalTimeScale();

/// machine, kernel, arch, compiler, cpus, emulated, sanitizer, memory_order; those of SuiteFacts.
std::vector<std::pair<std::string, std::string>> MachineFacts();

/// Now, as ISO 8601 in UTC.
std::string UtcNow();

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_MACHINE_H_
