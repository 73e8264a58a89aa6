// SPDX-License-Identifier: Apache-2.0
//
// Performance classes: units that are alike enough to be given like work. Source: the capacity that
// the kernel's scheduler goes by (Linux Documentation/scheduler/sched-capacity.rst), else the type
// of core and its highest clock.
#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "absl/strings/match.h"
#include "hal/topology_parts.h"

namespace halyard::hal {
namespace {

constexpr uint64_t kFullCapacity = 1024;

// Equal cores boost to clocks that differ by a few per cent, by 6 on some parts: the "favoured"
// ones are no class of their own.
constexpr uint64_t kBinningPercent = 10;
// Where the kernel's capacities come from a device tree, differing clocks are meant.
constexpr uint64_t kDesignPercent = 5;

struct Class {
  std::vector<size_t> members;  // indexes of units
  uint64_t speed = 0;           // of the fastest member
  size_t type_rank = 0;
};

// Order of the types where their speeds do not tell: as Linux names them, efficient cores last.
size_t TypeRank(absl::string_view type) {
  if (type == "cpu_atom") return 1;
  return type == "cpu_lowpower" ? 2 : 0;
}

bool AllKnown(const std::vector<uint64_t>& speeds) {
  return std::find(speeds.begin(), speeds.end(), uint64_t{0}) == speeds.end();
}

// Capacity of each unit, or its clock; all zero if neither is known for every unit.
std::vector<uint64_t> Speeds(absl::Span<const UnitDraft> units, bool* from_capacity) {
  std::vector<uint64_t> speeds;
  for (const UnitDraft& unit : units)
    speeds.push_back(std::min<uint64_t>(unit.raw_capacity, 65536));
  *from_capacity = AllKnown(speeds);
  if (*from_capacity) return speeds;
  speeds.clear();
  for (const UnitDraft& unit : units) {
    speeds.push_back(std::min<uint64_t>(unit.pu.max_khz, 1'000'000'000));
  }
  if (AllKnown(speeds)) return speeds;
  return std::vector<uint64_t>(units.size(), 0);
}

// Units of one type, sorted from fast to slow, fall apart where the speed drops.
std::vector<Class> FormClasses(absl::Span<const UnitDraft> units,
                               const std::vector<uint64_t>& speeds, uint64_t tolerance_percent) {
  // What a unit executes is part of its type: a class must be able to share its kernels.
  auto key = [&](size_t i) {
    return std::tie(units[i].core_type, units[i].pu.isa[0], units[i].pu.isa[1]);
  };
  std::vector<size_t> order(units.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (key(a) != key(b)) return key(a) < key(b);
    return speeds[a] != speeds[b] ? speeds[a] > speeds[b] : a < b;
  });
  std::vector<Class> classes;
  for (size_t i : order) {
    bool fits = false;
    if (!classes.empty()) {
      const size_t last = classes.back().members.back();
      fits = key(last) == key(i) && speeds[last] * 100 <= speeds[i] * (100 + tolerance_percent);
    }
    if (!fits) classes.push_back({{}, speeds[i], TypeRank(units[i].core_type)});
    classes.back().members.push_back(i);
  }
  return classes;
}

}  // namespace

void AssignClasses(absl::string_view arch, absl::Span<UnitDraft> units) {
  bool from_capacity = false;
  const std::vector<uint64_t> speeds = Speeds(units, &from_capacity);
  const bool designed = from_capacity && !absl::StartsWith(arch, "x86");
  std::vector<Class> classes =
      FormClasses(units, speeds, designed ? kDesignPercent : kBinningPercent);
  std::sort(classes.begin(), classes.end(), [](const Class& a, const Class& b) {
    return std::make_tuple(~a.speed, a.type_rank, a.members.front()) <
           std::make_tuple(~b.speed, b.type_rank, b.members.front());
  });
  uint64_t fastest = 0;
  for (const Class& each : classes) fastest = std::max(fastest, each.speed);
  for (size_t rank = 0; rank < classes.size(); ++rank) {
    const uint64_t capacity =
        fastest == 0 ? kFullCapacity
                     : std::max<uint64_t>(1, classes[rank].speed * kFullCapacity / fastest);
    for (size_t i : classes[rank].members) {
      units[i].pu.perf_class = static_cast<uint32_t>(rank);
      units[i].pu.capacity = static_cast<uint32_t>(capacity);
    }
  }
}

}  // namespace halyard::hal
