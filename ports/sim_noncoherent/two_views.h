// SPDX-License-Identifier: Apache-2.0
//
// Memory that a host sees through a write-back cache and a device sees directly.
#ifndef HALYARD_PORTS_SIM_NONCOHERENT_TWO_VIEWS_H_
#define HALYARD_PORTS_SIM_NONCOHERENT_TWO_VIEWS_H_

#include <cstdint>

namespace halyard::sim_noncoherent {

/// Bytes of a line: what a write-back or an invalidation acts on as a whole.
inline constexpr uint64_t kGranuleBytes = 64;

/// Two byte arrays that show the same memory, and what each cache line held when it was last
/// fetched or written back. A line is dirty where the host's bytes differ from that. Ranges lie
/// within `bytes`. Threads: one at a time; bytes that a map has given out are touched only where
/// they change.
class TwoViews {
 public:
  TwoViews(uint8_t* host, uint8_t* device, uint8_t* clean, uint64_t bytes)
      : host_(host), device_(device), clean_(clean), bytes_(bytes) {}

  uint8_t* host() const { return host_; }
  uint8_t* device() const { return device_; }

  // What a scoped map does, exact to the byte, so that a neighbour in the line is never disturbed.

  /// The host sees the device's bytes.
  void Fetch(uint64_t offset, uint64_t bytes);
  /// The device sees the host's bytes.
  void Publish(uint64_t offset, uint64_t bytes);
  /// Forgets what the host wrote since the last fetch or write-back.
  void Forget(uint64_t offset, uint64_t bytes);

  // What the instructions of a cache do. Ranges are rounded out to lines.

  /// Writes dirty lines back, each as a whole: over what the device wrote beside the host's bytes.
  void WriteBack(uint64_t offset, uint64_t bytes);
  /// Writes dirty lines back, then drops all, so that the host's next read comes from the device.
  /// This is what user space can do on AArch64 (DC CIVAC); it may not drop dirty lines.
  void Invalidate(uint64_t offset, uint64_t bytes);
  /// Drops clean bytes; dirty ones, of a neighbour that is still writing, stay as they are.
  void Refresh(uint64_t offset, uint64_t bytes);
  /// Writes dirty lines back as WriteBack does, but nothing outside the range.
  void WriteBackWithin(uint64_t offset, uint64_t bytes);

 private:
  struct Range {
    uint64_t first;
    uint64_t last;  // one beyond
  };
  Range RoundOut(uint64_t offset, uint64_t bytes) const;
  void WriteBackDirty(Range lines, Range within);

  uint8_t* const host_;
  uint8_t* const device_;
  uint8_t* const clean_;
  const uint64_t bytes_;
};

}  // namespace halyard::sim_noncoherent

#endif  // HALYARD_PORTS_SIM_NONCOHERENT_TWO_VIEWS_H_
