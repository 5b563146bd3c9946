// What is gated and why, and what a text would do.
#include <string>

#include "proxy/ctl/render.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_statement = 200;

std::string name_of(const json::value& object) {
  const auto schema = text_at(object, "/schema");
  const std::string name = harmless(text_at(object, "/name").value_or("?"));
  return schema ? harmless(*schema) + "." + name : name;
}

std::string joined(const json::array* texts) {
  std::string all;
  for (std::size_t i = 0; texts != nullptr && i < texts->size(); ++i)
    all += (all.empty() ? "" : ", ") + harmless(text_at((*texts)[i], "").value_or(""));
  return all;
}

enum style look_of(std::string_view verdict) {
  if (verdict == "transition") return style::bad;
  return verdict == "touch" ? style::warning : style::good;
}

/// The reasons one below the other, each a step further in.
void add_reasons(page& out, const json::array* reasons, std::string indent) {
  for (std::size_t i = 0; reasons != nullptr && i < reasons->size(); ++i) {
    out.push_back({{indent + harmless(text_at((*reasons)[i], "").value_or("")), style::faint}});
    indent += "  ";
  }
}

void add_object(page& out, const json::value& object) {
  out.push_back({{text_at(object, "/kind").value_or("?") + " "}, {name_of(object), style::strong}});
  const json::array* ways = array_at(object, "/ways");
  for (std::size_t i = 0; ways != nullptr && i < ways->size(); ++i) {
    const json::value& way = (*ways)[i];
    const std::string verdict = text_at(way, "/verdict").value_or("touch");
    std::string accesses = joined(array_at(way, "/accesses"));
    if (const json::array* columns = array_at(way, "/columns")) accesses += " (" + joined(columns) + ")";
    out.push_back({{"  " + accesses + ": "}, {verdict, look_of(verdict)}});
    add_reasons(out, array_at(way, "/why"), "    ");
  }
}

std::string pin_text(const json::value& pin, std::string_view pointer) {
  const std::string word = text_at(pin, pointer).value_or("none");
  return word == "as_extended" ? "as extended" : word == "none" ? "-" : word;
}

void add_pin(page& out, const json::value& value, std::string_view verdict) {
  const json::value* pin = object_at(value, "/pin");
  if (verdict == "none" || pin == nullptr) return;
  out.push_back(labelled(
      "pinned", {{pin_text(*pin, "/autocommit") + " in autocommit, " + pin_text(*pin, "/in_transaction") +
                  " in a transaction, " + pin_text(*pin, "/extended") + " in the extended protocol"}}));
  if (const auto hint = text_at(*pin, "/hint")) {
    const page wrapped = labelled_sentence("", *hint);
    out.insert(out.end(), wrapped.begin(), wrapped.end());
  }
}

void add_statement(page& out, const json::value& statement) {
  const std::string verdict = text_at(statement, "/verdict").value_or("none");
  out.push_back(
      {{shortened(harmless(text_at(statement, "/sql").value_or("")), longest_statement), style::strong}});
  std::string why;
  if (const auto reason = text_at(statement, "/reason")) {
    why = ", by " + *reason;
    if (const auto name = text_at(statement, "/name")) why += " " + harmless(*name);
    if (const auto access = text_at(statement, "/access")) why += " (" + *access + ")";
  }
  out.push_back(labelled("verdict", {{verdict, look_of(verdict)}, {why}}));
  const json::array* paths = array_at(statement, "/paths");
  for (std::size_t i = 0; paths != nullptr && i < paths->size(); ++i) {
    const json::value& path = (*paths)[i];
    out.push_back(labelled(i == 0 ? "because" : "", {{text_at(path, "/kind").value_or("") + " " +
                                                      harmless(text_at(path, "/name").value_or(""))}}));
    add_reasons(out, array_at(path, "/why"), "              ");
  }
  add_pin(out, statement, verdict);
}

} // namespace

page render_catalog(const json::value& catalog) {
  page out;
  const auto age = number_at(catalog, "/age_ms");
  out.push_back(labelled(
      "catalog", {{is_true_at(catalog, "/enabled")
                       ? "generation " + std::to_string(number_at(catalog, "/generation").value_or(0)) +
                             ", known to be current " + (age ? duration_text(*age) + " ago" : "never")
                       : "not in use, the configured names alone are gated"}}));
  if (const auto error = text_at(catalog, "/error"))
    out.push_back(labelled("error", {{harmless(*error), style::bad}}));
  const json::array* gated = array_at(catalog, "/gated");
  out.push_back({});
  out.push_back({{counted(number_at(catalog, "/names").value_or(0), "name is gated", "names are gated"),
                  style::strong}});
  for (std::size_t i = 0; gated != nullptr && i < gated->size(); ++i)
    add_object(out, (*gated)[i]);
  const json::array* unseen = array_at(catalog, "/unseen");
  if (unseen == nullptr || unseen->empty()) return out;
  out.push_back({});
  out.push_back(
      {{"Cannot be looked into; name those that lead to the ledger in gate.functions", style::strong}});
  for (const json::value& object : *unseen) {
    out.push_back({{"  " + text_at(object, "/kind").value_or("") + " " + name_of(object) + ": " +
                    harmless(text_at(object, "/why").value_or(""))}});
  }
  return out;
}

page render_explanation(const json::value& explanation) {
  page out;
  const std::string verdict = text_at(explanation, "/verdict").value_or("none");
  if (const auto message = text_at(explanation, "/unreadable/message")) {
    const auto position = number_at(explanation, "/unreadable/position");
    out.push_back(labelled("verdict", {{verdict, look_of(verdict)},
                                       {verdict == "none" ? ", it names nothing that is gated"
                                                          : ", since it cannot be read and may touch"}}));
    out.push_back(labelled(
        "parser", {{harmless(*message) + (position ? ", at character " + std::to_string(*position) : "")}}));
    add_pin(out, explanation, verdict);
    return out;
  }
  const json::array* statements = array_at(explanation, "/statements");
  const std::size_t count = statements != nullptr ? statements->size() : 0;
  if (count == 0) return {labelled("verdict", {{"none", style::good}, {", there is no statement"}})};
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out.push_back({});
    add_statement(out, (*statements)[i]);
  }
  if (count == 1) return out;
  out.push_back({});
  out.push_back({{"as one text", style::strong}});
  out.push_back(labelled("verdict", {{verdict, look_of(verdict)}}));
  add_pin(out, explanation, verdict);
  return out;
}

} // namespace ledgergate::ctl
