// SPDX-License-Identifier: Apache-2.0
//
// The context of a duty test inside a child process.
#ifndef HALYARD_CONFORMANCE_HAL_CONTEXT_H_
#define HALYARD_CONFORMANCE_HAL_CONTEXT_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/hal/duty.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// The port of a child process, loaded once and shared by its cases.
struct ChildPorts {
  std::shared_ptr<hal::Port> bare;
  hy_hal_get_fn entry = nullptr;
  std::shared_ptr<hal::Port> validate;  ///< made at first use
  std::shared_ptr<hal::Port> fault;     ///< made at first use
  std::shared_ptr<hal::FaultPlan> plan;

  /// Errors   as LoadPort.
  static absl::StatusOr<ChildPorts> Load(const RunRequest& request);

  /// The port with the layer of a mode around it.
  absl::StatusOr<std::shared_ptr<hal::Port>> ForMode(const std::string& mode);

  /// What the validate layer found since the last call.
  static std::vector<hal::Violation> TakeViolations();
};

class ChildContext : public HalContext {
 public:
  ChildContext(const ChildPorts& ports, std::shared_ptr<hal::Port> port, const RunRequest& request,
               std::string mode, uint64_t seed);

  /// Opens the device under test.
  absl::Status OpenDevice();

  const std::shared_ptr<hal::Port>& port() override { return port_; }
  const std::shared_ptr<hal::Port>& bare_port() override { return bare_; }
  hy_hal_get_fn entry() override { return entry_; }
  hal::Device& device() override { return *device_; }
  absl::StatusOr<hal::Device> OpenAgain() override;
  void CloseDevice() override { device_.reset(); }
  hy_open_desc open_desc() override;
  bool can_reopen() override;
  const std::string& mode() const override { return mode_; }
  bool emulated() const override;
  double time_scale() const override { return time_scale_; }
  uint64_t seed() const override { return seed_; }
  std::optional<std::string> plugin_path() const override;
  void Fact(const std::string& name, const std::string& value) override;

  std::vector<std::pair<std::string, std::string>> TakeFacts();

 private:
  std::shared_ptr<hal::Port> bare_;
  std::shared_ptr<hal::Port> port_;
  hy_hal_get_fn entry_;
  std::string device_id_;
  std::vector<std::pair<std::string, std::string>> options_;
  std::vector<hy_option> raw_options_;
  std::string mode_;
  double time_scale_;
  uint64_t seed_;
  std::optional<hal::Device> device_;
  std::mutex facts_mutex_;
  std::vector<std::pair<std::string, std::string>> facts_;
};

/// How long waits may take here: the request's scale times what the machine needs.
double TimeScaleOf(const RunRequest& request);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_HAL_CONTEXT_H_
