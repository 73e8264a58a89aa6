// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_WAIVER_H_
#define HALYARD_CONFORMANCE_WAIVER_H_

#include <string>

namespace halyard::conformance {

/// A failure of a kernel that is known, measured and answered for, until a day. See waivers.h.
struct Waiver {
  std::string id;      ///< "W-12"
  std::string cases;   ///< glob on case ids
  std::string kernel;  ///< glob on kernel ids
  std::string device;  ///< glob on the device's name or the machine's; empty: any
  std::string reason;
  std::string issue;    ///< where it is followed
  std::string expires;  ///< last day, "2026-05-31"
  std::string approved_by;
  double max_error = 0;  ///< largest err/T that it covers
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_WAIVER_H_
