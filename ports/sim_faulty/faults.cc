// SPDX-License-Identifier: Apache-2.0
#include "ports/sim_faulty/faults.h"

#include <cstring>

namespace halyard::sim_faulty {
namespace {

using port_kit::Report;

// `loses`: the verb says DATA_LOSS when the device is lost; the others work on without it.
struct VerbRow {
  const char* name;
  bool loses;
};
constexpr VerbRow kVerbs[] = {
    {"open", false},        {"query", false}, {"topology", false}, {"alloc", true},
    {"import_host", true},  {"map", true},    {"unmap", true},     {"sync_range", true},
    {"worker_bind", false}, {"submit", true}, {"timestamp", true},
};
static_assert(sizeof kVerbs / sizeof kVerbs[0] == static_cast<size_t>(Verb::kCount));

const VerbRow& Row(Verb verb) { return kVerbs[static_cast<size_t>(verb)]; }

bool ParseVerb(const char* text, Verb* out_verb) {
  for (size_t i = 0; i < static_cast<size_t>(Verb::kCount); ++i) {
    if (std::strcmp(text, kVerbs[i].name) != 0) continue;
    *out_verb = static_cast<Verb>(i);
    return true;
  }
  return false;
}

bool ParseStatus(const char* text, hy_status* out_status) {
  for (hy_status status = HY_CANCELLED; status < HY_STATUS_COUNT; ++status) {
    if (std::strcmp(text, hy_status_name(status)) != 0) continue;
    *out_status = status;
    return true;
  }
  return false;
}

bool ParseFlag(const char* text, bool* out_flag) {
  uint64_t value = 0;
  if (!port_kit::ParseU64(text, &value) || value > 1) return false;
  *out_flag = value == 1;
  return true;
}

}  // namespace

hy_status Options::Take(void* options, const char* key, const char* value) {
  auto* self = static_cast<Options*>(options);
  if (std::strcmp(key, "verb") == 0 && ParseVerb(value, &self->verb)) return HY_OK;
  if (std::strcmp(key, "nth") == 0 && port_kit::ParseU64(value, &self->nth) && self->nth > 0) {
    return HY_OK;
  }
  if (std::strcmp(key, "status") == 0 && ParseStatus(value, &self->status)) return HY_OK;
  if (std::strcmp(key, "sticky") == 0 && ParseFlag(value, &self->sticky)) return HY_OK;
  return Report(host, HY_INVALID_ARGUMENT,
                "option %s=%s: sim_faulty knows verb=NAME, nth=N from 1, status=NAME such as "
                "DATA_LOSS, and sticky=0 or 1",
                key, value);
}

hy_status Faults::Enter(Verb verb) {
  if (lost_ && Row(verb).loses) {
    return Report(host, HY_DATA_LOSS, "%s: the simulated device is lost; open it anew",
                  Row(verb).name);
  }
  if (verb != options_.verb) return HY_OK;
  const uint64_t call = ++calls_;
  if (call != options_.nth && !(options_.sticky && call > options_.nth)) return HY_OK;
  if (options_.status == HY_DATA_LOSS) lost_ = true;
  return Report(host, options_.status, "%s: call %llu was told to fail", Row(verb).name,
                static_cast<unsigned long long>(call));
}

}  // namespace halyard::sim_faulty
