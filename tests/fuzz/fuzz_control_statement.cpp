// The reader of leading keywords against the real grammar, wherever the grammar accepts the text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/sql/classifier.hpp"
#include "proxy/sql/parse.hpp"
#include "tests/fuzz/require.hpp"

using namespace ledgergate;
using sql::control_kind;
using test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const control_kind leading = sql::leading_control_statement(text);
  const control_kind single = sql::single_control_statement(text);
  require(single == control_kind::none || single == leading, "a single statement is also the first");
  const sql::parse_result parsed = sql::parse(text);
  if (parsed.error != nullptr) return 0;
  const control_kind first =
      parsed.statements.empty() ? control_kind::none : parsed.statements.front().control;
  // The properties of SET TRANSACTION can be written in more ways than the reader knows.
  if (first == control_kind::set_transaction) return 0;
  require(leading == first, "the first statement is what the grammar says");
  const bool backslash = text.find('\\') != std::string_view::npos;
  if (!backslash) {
    require(single == (parsed.statements.size() == 1 ? first : control_kind::none),
            "one statement is what the grammar says");
  }
  return 0;
}
