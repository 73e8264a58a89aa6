// SPDX-License-Identifier: Apache-2.0
//
// A selection in words.
#ifndef HALYARD_REGISTRY_DECISION_TEXT_H_
#define HALYARD_REGISTRY_DECISION_TEXT_H_

#include <string>

#include "registry/select.h"

namespace halyard::registry {

/// What decided.
std::string DecisionText(const Selection& selection);

/// Why a kernel that could run lost against the chosen one.
std::string PassedOverText(const Kernel& loser, const Selection& winner);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_DECISION_TEXT_H_
