// SPDX-License-Identifier: Apache-2.0
#include "cli/html_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace halyard::cli {
namespace {

constexpr absl::string_view kStyle = R"css(
:root { --ink:#1c2430; --soft:#5b6675; --line:#d9dee5; --paper:#fff; --band:#f4f6f9;
        --ok:#1a7f4b; --bad:#b3261e; --warn:#9a6700; --skip:#5b6675; --accent:#1f5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --ink:#e6eaf0; --soft:#9aa5b4; --line:#39424f; --paper:#12161c; --band:#1b212a;
          --ok:#5fcf95; --bad:#ff8a80; --warn:#e3b341; --skip:#9aa5b4; --accent:#7db4f2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem; background: var(--paper);
       color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem;
     border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p.lead { color: var(--soft); margin: 0 0 1rem; max-width: 46rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
         vertical-align: top; } th { color: var(--soft); font-weight: 600; background: var(--band); }
td.num, th.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code, pre { font-family: ui-monospace, monospace; font-size: .88em; overflow-wrap: anywhere; }
pre { background: var(--band); padding: .8rem 1rem; border-radius: 6px; overflow-x: auto;
      white-space: pre; line-height: 1.4; }
.badge { display: inline-block; padding: .1rem .55rem; border-radius: 1rem; font-size: .85rem;
         font-weight: 600; border: 1px solid currentColor; white-space: nowrap; }
.pass, .pass_fallback, .ok, .info { color: var(--ok); } .fail, .error, .crash, .timeout, .xpass,
.fail_nondeterministic, .memory_violation, .abi_violation, .toolchain_fault { color: var(--bad); }
.weak, .warning, .waived { color: var(--warn); } .skip, .skipped, .not_supported, .emulator_suspect { color: var(--skip); }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; }
.cards li { border: 1px solid var(--line); border-radius: 8px; padding: .6rem 1rem; min-width: 9rem; }
.cards b { display: block; font-size: 1.35rem; } .cards span { color: var(--soft); font-size: .85rem; }
.bar { fill: var(--accent); } .bar.copy { opacity: .55; } svg text { fill: var(--ink); font-size: 12px; }
table.heat { width: auto; font-size: .78rem; font-variant-numeric: tabular-nums; }
.heat th, .heat td { padding: .1rem .35rem; border: 1px solid var(--line); text-align: right; white-space: nowrap; }
.heat td:first-child, .heat th:first-child { text-align: left; }
.heat .p { background: color-mix(in srgb, var(--ok) 22%, var(--paper)); }
.heat .w, .heat .v { background: color-mix(in srgb, var(--warn) 30%, var(--paper)); }
.heat .f { background: color-mix(in srgb, var(--bad) 35%, var(--paper)); }
.heat i { color: var(--warn); } .heat b { color: var(--bad); } .scroll { overflow-x: auto; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--accent); }
@media print { body { max-width: none; padding: 0; } details { display: block; } pre { white-space: pre-wrap; } }
)css";

}  // namespace

std::string HtmlEscape(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string HtmlPage(absl::string_view title, absl::string_view body) {
  return absl::StrCat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      HtmlEscape(title), "</title>\n<style>", kStyle, "</style></head>\n<body>\n", body,
      "\n</body></html>\n");
}

}  // namespace halyard::cli
