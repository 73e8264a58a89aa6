// SPDX-License-Identifier: Apache-2.0
#include "ports/linux/cpu_name.h"

#include <sys/utsname.h>

#include <fstream>

namespace halyard::linux_port {
namespace {

/// Value of the first line of /proc/cpuinfo that begins with a key; empty if there is none.
std::string CpuinfoValue(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.compare(0, key.size(), key) != 0 || colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) return line.substr(begin);
  }
  return "";
}

}  // namespace

std::string CpuName() {
  utsname names{};
  if (uname(&names) != 0) return "CPU";
  const std::string machine = names.machine;
  // An emulator shows the host's /proc/cpuinfo: a name that x86 alone has is not believed
  // elsewhere.
  if (machine == "x86_64") {
    const std::string model = CpuinfoValue("model name");
    if (!model.empty()) return model;
  }
  std::ifstream board("/sys/firmware/devicetree/base/model");
  std::string name;
  if (std::getline(board, name, '\0') && !name.empty()) return name + " (" + machine + ")";
  return machine + " CPU";
}

}  // namespace halyard::linux_port
