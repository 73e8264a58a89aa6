// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CLI_HTML_PAGE_H_
#define HALYARD_CLI_HTML_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace halyard::cli {

/// A whole page around sections: one file, no network, no scripts, light and dark, fit for print.
std::string HtmlPage(absl::string_view title, absl::string_view body);

/// Text made safe inside an element or an attribute.
std::string HtmlEscape(absl::string_view text);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_HTML_PAGE_H_
