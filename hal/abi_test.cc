// SPDX-License-Identifier: Apache-2.0
//
// Compares the layout of the HAL boundary with the golden file of the data model. After a change
// that the ABI rules allow, write the file anew with
//   HALYARD_WRITE_ABI=1 abi_test
// on an LP64 and on an ILP32 target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hal/abi/layout.h"
#include "halyard/hal.h"

namespace halyard::hal {
namespace {

std::string ReadSource(const std::string& path) {
  std::ifstream file(absl::StrCat(HALYARD_TEST_SOURCE_DIR, "/", path), std::ios::binary);
  EXPECT_TRUE(file) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string WithoutComments(const std::string& text) {
  return std::regex_replace(text, std::regex("//[^\n]*|/\\*[^*]*\\*/"), "");
}

std::string GoldenPath() { return absl::StrCat("hal/abi/hal_v1.", DataModel(), ".txt"); }

TEST(AbiTest, TheLayoutIsThatOfTheGoldenFile) {
  const std::string text = HalLayoutText();
  if (std::getenv("HALYARD_WRITE_ABI") != nullptr) {
    std::ofstream(absl::StrCat(HALYARD_TEST_SOURCE_DIR, "/", GoldenPath()), std::ios::binary)
        << text;
  }
  const std::vector<std::string> golden = absl::StrSplit(ReadSource(GoldenPath()), '\n');
  const std::vector<std::string> live = absl::StrSplit(text, '\n');
  for (size_t i = 0; i < golden.size() && i < live.size(); ++i) {
    ASSERT_EQ(live[i], golden[i]) << "line " << i + 1 << " of " << GoldenPath();
  }
  EXPECT_EQ(live.size(), golden.size());
}

uint64_t RoundUp(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// A field that is missing from the list would leave a hole that no alignment asks for.
TEST(AbiTest, FieldsLeaveNoHolesButForAlignment) {
  for (const StructLayout& type : HalStructs()) {
    uint64_t end_bytes = 0;
    for (const FieldLayout& field : type.fields) {
      EXPECT_EQ(field.offset_bytes, RoundUp(end_bytes, field.alignment_bytes))
          << type.name << "::" << field.name;
      end_bytes = field.offset_bytes + field.size_bytes;
    }
    EXPECT_EQ(type.size_bytes, RoundUp(end_bytes, type.alignment_bytes)) << type.name;
  }
}

TEST(AbiTest, EveryStructThatGrowsBeginsWithItsSize) {
  const std::set<std::string> fixed = {"hy_array", "hy_fence_point", "hy_node_bytes"};
  for (const StructLayout& type : HalStructs()) {
    if (fixed.count(type.name) != 0) continue;
    EXPECT_EQ(type.fields[0].name, "struct_size") << type.name;
    EXPECT_EQ(type.fields[0].size_bytes, sizeof(uint32_t)) << type.name;
  }
}

TEST(AbiTest, TheTableHasTwentyVerbsInTheirOrder) {
  const StructLayout table = HalStructs().back();
  ASSERT_EQ(table.name, "hy_hal_api");
  constexpr size_t kHead = 7;  // struct_size to vendor
  ASSERT_EQ(table.fields.size(), kHead + 20);
  for (size_t i = kHead; i < table.fields.size(); ++i) {
    EXPECT_EQ(table.fields[i].offset_bytes,
              offsetof(hy_hal_api, enumerate) + (i - kHead) * sizeof(void*));
  }
  EXPECT_EQ(table.fields[kHead].name, "enumerate");
  EXPECT_EQ(table.fields.back().name, "release");
  EXPECT_EQ(HY_HAL_API_SIZE_V1_0, sizeof(hy_hal_api));
}

TEST(AbiTest, NoStructAndNoConstantOfTheHeadersIsLeftOut) {
  std::string headers;
  for (const char* name : {"status.h", "hal_types.h", "hal.h", "isa.h"}) {
    headers += WithoutComments(ReadSource(absl::StrCat("hal/include/halyard/", name)));
  }
  std::set<std::string> listed = {"HY_HAL_GET_NAME"};  // a text
  for (const StructLayout& type : HalStructs()) listed.insert(type.name);
  for (const Constant& constant : HalConstants()) listed.insert(constant.name);
  const std::regex declared("(?:typedef struct (hy_\\w+) \\{)|(?:#define (HY_\\w+) )");
  size_t seen = 0;
  for (std::sregex_iterator match(headers.begin(), headers.end(), declared), end; match != end;
       ++match) {
    const std::string name = (*match)[1].matched ? (*match)[1] : (*match)[2];
    EXPECT_EQ(listed.count(name), 1u) << name << " is not in hal/abi/members.inc";
    ++seen;
  }
  EXPECT_GT(seen, 50u);
  const std::regex enumeration("enum \\{([^}]*)\\}");
  const std::regex enumerator("HY_\\w+");
  for (std::sregex_iterator match(headers.begin(), headers.end(), enumeration), end; match != end;
       ++match) {
    const std::string body = (*match)[1];
    for (std::sregex_iterator word(body.begin(), body.end(), enumerator); word != end; ++word) {
      EXPECT_EQ(listed.count(word->str()), 1u) << word->str() << " is not in hal/abi/members.inc";
    }
  }
}

}  // namespace
}  // namespace halyard::hal
