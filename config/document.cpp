#include "config/document.hpp"

#include <optional>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace ledgergate::config {
namespace {

using node_result = boost::system::result<node, document_error>;

// Aliases may nest and may name the list they stand in, so that a short text can stand for an endless tree.
constexpr int depth_max = 32;
constexpr int node_count_max = 100'000;

position place_of(const YAML::Mark& mark) {
  return mark.is_null() ? position{} : position{mark.line + 1, mark.column + 1};
}

// A byte that no UTF-8 text has at its place; yaml-cpp would pass it on. Source: RFC 3629, section 4.
std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
    if (size == 0 || at + size > text.size()) return at;
    for (std::size_t next = 1; next < size; ++next) {
      const auto byte = static_cast<unsigned char>(text[at + next]);
      unsigned char low = 0x80;
      unsigned char high = 0xBF;
      if (next == 1 && lead == 0xE0) low = 0xA0;
      if (next == 1 && lead == 0xED) high = 0x9F;
      if (next == 1 && lead == 0xF0) low = 0x90;
      if (next == 1 && lead == 0xF4) high = 0x8F;
      if (byte < low || byte > high) return at;
    }
    at += size;
  }
  return std::nullopt;
}

position place_of_byte(std::string_view text, std::size_t offset) {
  position at{1, 1};
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') at = {at.line + 1, 0};
    ++at.column;
  }
  return at;
}

// Remembers where the last document began. YAML::Load() reads one document and is silent about what follows
// it, and YAML::LoadAll() of yaml-cpp 0.7 makes empty documents without end of a text like `[a], b`. So the
// documents are counted here, up to two.
class document_finder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { begin = place_of(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}

  position begin;
};

std::optional<position> second_document(const std::string& text) {
  std::istringstream stream{text};
  YAML::Parser parser{stream};
  document_finder finder;
  if (parser.HandleNextDocument(finder) && parser.HandleNextDocument(finder)) return finder.begin;
  return std::nullopt;
}

class tree_builder {
 public:
  node_result build(const YAML::Node& source, int depth) {
    node target;
    target.at = place_of(source.Mark());
    if (depth > depth_max || ++node_count_ > node_count_max) {
      return document_error{target.at, "is nested too deeply or repeated too often (by aliases)"};
    }
    // "?" is a plain value, "!" a quoted one: what is left was written as a tag.
    const std::string& tag = source.Tag();
    if (!tag.empty() && tag != "?" && tag != "!")
      return document_error{target.at, "tags are not supported: " + tag};
    if (source.IsScalar()) {
      target.kind = node_kind::text;
      target.text = source.Scalar();
      target.quoted = tag == "!";
      if (target.text.find('\0') != std::string::npos)
        return document_error{target.at, "must not hold a NUL character"};
      return target;
    }
    if (source.IsSequence()) return build_list(source, std::move(target), depth);
    if (source.IsMap()) return build_map(source, std::move(target), depth);
    return target;
  }

 private:
  node_result build_list(const YAML::Node& source, node target, int depth) {
    target.kind = node_kind::list;
    for (const auto& item : source) {
      auto child = build(item, depth + 1);
      if (!child) return child;
      target.children.push_back(std::move(*child));
    }
    return target;
  }

  node_result build_map(const YAML::Node& source, node target, int depth) {
    target.kind = node_kind::map;
    for (const auto& pair : source) {
      const position key_place = place_of(pair.first.Mark());
      if (!pair.first.IsScalar()) return document_error{key_place, "a key must be a word"};
      auto child = build(pair.second, depth + 1);
      if (!child) return child;
      child->key = pair.first.Scalar();
      child->key_at = key_place;
      // The mark of a nested value is where its first child stands, and that of nothing is where the next key
      // stands.
      if (child->kind != node_kind::text) child->at = key_place;
      target.children.push_back(std::move(*child));
    }
    return target;
  }

  int node_count_ = 0;
};

} // namespace

boost::system::result<node, document_error> parse_document(const std::string& text) {
  if (const auto offset = first_invalid_utf8(text)) {
    return document_error{place_of_byte(text, *offset), "the file must be UTF-8; this byte is not"};
  }
  try {
    if (const auto second = second_document(text)) {
      return document_error{
          *second, "does not belong to what the file begins with: the file must be one YAML document (is the "
                   "indentation right?)"};
    }
    const YAML::Node top = YAML::Load(text);
    if (top.IsNull()) return node{node_kind::map, {}, false, {}, {1, 1}, {1, 1}, {}};
    if (!top.IsMap())
      return document_error{place_of(top.Mark()), "the file must be a mapping of keys to values"};
    return tree_builder{}.build(top, 0);
  } catch (const YAML::Exception& error) {
    return document_error{place_of(error.mark), "is not valid YAML: " + error.msg};
  }
}

} // namespace ledgergate::config
