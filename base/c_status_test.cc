// SPDX-License-Identifier: Apache-2.0
#include "base/c_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace halyard {
namespace {

using ::testing::HasSubstr;

TEST(CStatusTest, EveryNumberKeepsItsMeaning) {
  for (hy_status number = 0; number < HY_STATUS_COUNT; ++number) {
    const absl::Status status = ToStatus(number, "why");
    EXPECT_EQ(static_cast<int>(status.code()), number);
    EXPECT_EQ(absl::StatusCodeToString(status.code()), hy_status_name(number));
    EXPECT_EQ(FromStatus(status), number);
    EXPECT_EQ(status.message(), number == HY_OK ? "" : "why");
  }
}

TEST(CStatusTest, NamesAreUnique) {
  std::set<std::string> names;
  for (hy_status number = 0; number < HY_STATUS_COUNT; ++number)
    names.insert(hy_status_name(number));
  EXPECT_EQ(names.size(), static_cast<size_t>(HY_STATUS_COUNT));
}

TEST(CStatusTest, ANumberThatIsNoStatusIsInternalAndNamed) {
  for (hy_status number : {-1, static_cast<int>(HY_STATUS_COUNT), 1000}) {
    const absl::Status status = ToStatus(number, "from acme");
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(number)));
    EXPECT_THAT(std::string(status.message()), HasSubstr("from acme"));
    EXPECT_STREQ(hy_status_name(number), "INVALID_STATUS");
  }
}

TEST(CStatusTest, ContextGoesBeforeTheMessage) {
  const absl::Status status = WithContext(absl::NotFoundError("no unit 7"), "team_create");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "team_create: no unit 7");
  EXPECT_TRUE(WithContext(absl::OkStatus(), "team_create").ok());
}

}  // namespace
}  // namespace halyard
