// SPDX-License-Identifier: Apache-2.0
//
// Strict reading of YAML maps: every key is known, given once and of the right type, or the file is
// refused with the line. Names that belong to callers of yaml-cpp stay inside facts/*.cc.
#ifndef HALYARD_FACTS_YAML_FIELDS_H_
#define HALYARD_FACTS_YAML_FIELDS_H_

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace halyard::facts {

inline constexpr size_t kMostYamlBytes = size_t{256} << 10;

/// The first fault of a file. Readers go on after it, so that they need no branches of their own.
class YamlFault {
 public:
  /// Faults that follow are about the value of this key.
  void SetKey(absl::string_view key, const YAML::Mark& mark);
  /// "line 3: 'count' must be ...".
  void Value(const YAML::Node& node, absl::string_view must);
  void At(const YAML::Mark& mark, absl::string_view what);

  const absl::Status& status() const { return status_; }

  /// Counts what is read: an alias may stand for much, again and again.
  bool Spend();

 private:
  std::string key_;
  YAML::Mark key_mark_;
  absl::Status status_;
  uint32_t spent_ = 0;
};

// Readers of one value. A plain word `unknown` becomes an empty optional.
void ReadText(const YAML::Node& node, YamlFault* fault, std::string* out);     // not blank
void ReadAnyText(const YAML::Node& node, YamlFault* fault, std::string* out);  // may be empty
void ReadWhole(const YAML::Node& node, YamlFault* fault, uint32_t* out);       // decimal or 0x
void ReadFlag(const YAML::Node& node, YamlFault* fault, bool* out);            // true or false
void ReadNumber(const YAML::Node& node, YamlFault* fault, double* out);        // above 0
void ReadWholeOrUnknown(const YAML::Node& node, YamlFault* fault, std::optional<uint32_t>* out);
void ReadNumberOrUnknown(const YAML::Node& node, YamlFault* fault, std::optional<double>* out);

template <typename T>
using YamlReader = void (*)(const YAML::Node&, YamlFault*, T*);

template <typename T>
void ReadList(const YAML::Node& node, YamlFault* fault, std::vector<T>* out, YamlReader<T> read) {
  if (!node.IsSequence()) return fault->Value(node, "must be a list");
  for (const YAML::Node& item : node) {
    if (!fault->Spend()) return fault->Value(item, "holds too much");
    T value{};
    read(item, fault, &value);
    out->push_back(std::move(value));
  }
}

/// A map whose keys are taken one by one; End refuses what is left and what was missed.
class YamlMap {
 public:
  YamlMap(const YAML::Node& node, YamlFault* fault);

  template <typename T>
  void Get(absl::string_view key, T* out, YamlReader<T> read) {
    if (const YAML::Node* const node = Take(key, true)) read(*node, fault_, out);
  }
  /// False if there is no such key.
  template <typename T>
  bool GetOptional(absl::string_view key, T* out, YamlReader<T> read) {
    const YAML::Node* const node = Take(key, false);
    if (node != nullptr) read(*node, fault_, out);
    return node != nullptr;
  }
  template <typename T>
  void GetList(absl::string_view key, std::vector<T>* out, YamlReader<T> read) {
    if (const YAML::Node* const node = Take(key, true)) ReadList(*node, fault_, out, read);
  }
  /// The place of the value among `choices`; 0 on a fault.
  size_t GetOneOf(absl::string_view key, std::initializer_list<absl::string_view> choices);
  /// The value itself; nullptr if there is none.
  const YAML::Node* Take(absl::string_view key, bool needed);
  /// The values of a map whose keys are data, in their order.
  template <typename T>
  void GetAll(std::vector<std::pair<std::string, T>>* out, YamlReader<T> read) {
    for (Entry& entry : entries_) {
      entry.taken = true;
      fault_->SetKey(entry.key, entry.mark);
      read(entry.node, fault_, &out->emplace_back(entry.key, T()).second);
    }
  }
  void End();

 private:
  struct Entry {
    std::string key;
    YAML::Mark mark;
    YAML::Node node;
    bool taken = false;
  };
  void Add(const YAML::Node& key_node, const YAML::Node& value);

  YAML::Mark mark_;
  YamlFault* fault_;
  std::vector<Entry> entries_;
  std::string missing_;
};

/// Runs `read` on the root of a text that must be one ASCII document of at most kMostYamlBytes. The
/// only place of facts/ where exceptions of yaml-cpp are caught. Errors   INVALID_ARGUMENT with
/// `name` and the line; RESOURCE_EXHAUSTED.
absl::Status ReadYaml(const std::string& name, const std::string& text,
                      const std::function<void(const YAML::Node&, YamlFault*)>& read);

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_YAML_FIELDS_H_
