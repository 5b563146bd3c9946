// Any bytes as a statement, in any reading context. First byte: the context.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/sql/classifier.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/support/naive_mention.hpp"
#include "tests/unit/sql/sample_settings.hpp"

using namespace ledgergate;
using test::require;

namespace {

bool names_anything(std::string_view text) {
  const std::string folded = test::lowered(text);
  const config::settings settings = test::sample_settings();
  for (const auto& rule : settings.gate.tables) {
    if (rule.name.find('"') == std::string::npos &&
        folded.find(test::lowered(rule.name)) != std::string::npos)
      return true;
  }
  return folded.find(settings.control_row.table) != std::string::npos ||
         folded.find("u&\"") != std::string::npos;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const sql::classifier reader(test::sample_settings());
  sql::reading_context context;
  context.standard_conforming_strings = (data[0] & 1U) == 0;
  context.utf8_safe_encoding = (data[0] & 2U) == 0;
  context.utf8 = (data[0] & 4U) == 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const sql::text_verdict verdict = reader.classify(text, context);
  const bool candidate = reader.is_candidate(text, context);
  require(candidate == (verdict.reason != sql::touch_reason::not_mentioned), "only candidates are looked at");
  require(candidate || !names_anything(text), "what names a gated table is a candidate");
  require((verdict.touch == sql::touch_kind::none) == (verdict.reason == sql::touch_reason::not_mentioned ||
                                                       verdict.reason == sql::touch_reason::no_rule_matches),
          "a touch has a reason");
  require((verdict.parse_error != nullptr) == (verdict.reason == sql::touch_reason::unparsed),
          "what could not be read says why");
  require(verdict.touch == sql::touch_kind::none || !verdict.name.empty(), "a touch has a name");
  require(verdict.shape != sql::text_shape::empty || verdict.touch == sql::touch_kind::none,
          "no statement, no touch");
  return 0;
}
