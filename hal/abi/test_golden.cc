// SPDX-License-Identifier: Apache-2.0
#include "hal/abi/test_golden.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace halyard::hal {
namespace {

std::string SourcePath(const std::string& path) {
  return absl::StrCat(HALYARD_TEST_SOURCE_DIR, "/", path);
}

std::string ReadSource(const std::string& path) {
  std::ifstream file(SourcePath(path), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string WithoutComments(const std::string& text) {
  return std::regex_replace(text, std::regex("//[^\n]*|/\\*[^*]*\\*/"), "");
}

uint64_t RoundUp(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Group `group` of each match.
std::vector<std::string> Matches(const std::string& text, const std::regex& pattern, size_t group) {
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    if ((*match)[group].matched) found.push_back((*match)[group]);
  }
  return found;
}

}  // namespace

std::string GoldenDifference(const std::string& text, const std::string& path) {
  if (std::getenv("HALYARD_WRITE_ABI") != nullptr) {
    std::ofstream(SourcePath(path), std::ios::binary) << text;
  }
  const std::vector<std::string> golden = absl::StrSplit(ReadSource(path), '\n');
  const std::vector<std::string> live = absl::StrSplit(text, '\n');
  for (size_t i = 0; i < std::max(golden.size(), live.size()); ++i) {
    const std::string was = i < golden.size() ? golden[i] : "(end)";
    const std::string is = i < live.size() ? live[i] : "(end)";
    if (was != is) {
      return absl::StrCat("line ", i + 1, " of ", path, " says '", was, "', but it is '", is, "'");
    }
  }
  return "";
}

std::vector<std::string> Holes(const std::vector<StructLayout>& structs) {
  std::vector<std::string> holes;
  for (const StructLayout& type : structs) {
    uint64_t end_bytes = 0;
    for (const FieldLayout& field : type.fields) {
      if (field.offset_bytes != RoundUp(end_bytes, field.alignment_bytes))
        holes.push_back(absl::StrCat(type.name, "::", field.name));
      end_bytes = field.offset_bytes + field.size_bytes;
    }
    if (type.size_bytes != RoundUp(end_bytes, type.alignment_bytes))
      holes.push_back(absl::StrCat("the end of ", type.name));
  }
  return holes;
}

std::vector<std::string> LeftOut(const std::vector<std::string>& headers,
                                 const std::vector<StructLayout>& structs,
                                 const std::vector<Constant>& constants,
                                 std::set<std::string> texts) {
  std::string text;
  for (const std::string& header : headers) text += WithoutComments(ReadSource(header));
  for (const StructLayout& type : structs) texts.insert(type.name);
  for (const Constant& constant : constants) texts.insert(constant.name);
  std::vector<std::string> declared = Matches(text, std::regex("typedef struct (hy_\\w+) \\{"), 1);
  for (const std::string& name : Matches(text, std::regex("#define (HY_\\w+) "), 1))
    declared.push_back(name);
  for (const std::string& body : Matches(text, std::regex("enum \\{([^}]*)\\}"), 1)) {
    for (const std::string& name : Matches(body, std::regex("HY_\\w+"), 0))
      declared.push_back(name);
  }
  std::vector<std::string> missing;
  for (const std::string& name : declared) {
    if (texts.count(name) == 0) missing.push_back(name);
  }
  if (declared.size() < 50) missing.push_back("the headers, which read as next to nothing");
  return missing;
}

}  // namespace halyard::hal
