// SPDX-License-Identifier: Apache-2.0
//
// The files under /sys and /proc that describe a machine: the live ones, those under another root,
// or an image of another machine in one text file (ports/sim_topology/fixtures/README.md).
#ifndef HALYARD_HAL_SYSTEM_VIEW_H_
#define HALYARD_HAL_SYSTEM_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/cpu_features.h"

namespace halyard::hal {

/// Read-only view of a machine's description. Threads: any.
class SystemView {
 public:
  virtual ~SystemView() = default;

  /// Contents of a file without trailing newline; nothing if it is absent or unreadable.
  /// `path` has no leading slash: "sys/devices/system/cpu/online".
  virtual std::optional<std::string> Read(absl::string_view path) const = 0;

  /// Names of the entries of a folder, sorted; empty if there is none.
  virtual std::vector<std::string> List(absl::string_view path) const = 0;

  /// True for the machine that this process runs on: system calls may then be asked too.
  virtual bool is_live() const = 0;

  /// Architecture as `uname -m` names it.
  virtual std::string arch() const = 0;

  /// Base page size in bytes.
  virtual uint64_t page_bytes() const = 0;

  /// What a unit executes, by its os id.
  virtual IsaMask isa(uint32_t pu) const = 0;

  /// HY_SOURCE_* to report for facts read from here.
  virtual uint32_t source() const = 0;
};

/// The running machine, or the tree under `root` ("" or "/" is the real one). Only the real root
/// is live.
std::shared_ptr<const SystemView> RealSystem(absl::string_view root = "");

/// The image of a machine in the text format of the fixtures.
/// Errors   INVALID_ARGUMENT with the line number.
absl::StatusOr<std::shared_ptr<const SystemView>> ParseSystemImage(absl::string_view text);

/// `@expect` of an image as key=value pairs, `@machine` under the key "machine"; for tests.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ImageFacts(absl::string_view text);

/// Whether an image can hold a file of this path: relative, no empty part, neither blanks nor
/// braces, and no first character that makes the line another one.
bool IsImagePath(absl::string_view path);

/// An image of a view, holding all that ReadTopology looks at: `halyard info --capture`. Files
/// whose paths it cannot hold are left out; only control groups may be called so.
std::string CaptureSystemImage(const SystemView& view, absl::string_view machine);

/// A file holds an image, a folder is a root.
/// Errors   NOT_FOUND, INVALID_ARGUMENT.
absl::StatusOr<std::shared_ptr<const SystemView>> OpenSystemView(absl::string_view path);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_SYSTEM_VIEW_H_
