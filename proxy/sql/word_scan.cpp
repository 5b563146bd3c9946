#include "proxy/sql/word_scan.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proxy/sql/lexer.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace ledgergate::sql {

namespace {

constexpr std::size_t step = 16;
/// The server cuts names at 63 bytes, or a little earlier inside a character: what is longer in a text may be
/// one of these.
constexpr std::size_t cut_name_bytes = 60;

bool is_word_byte(char c) { return is_word_start(c) || is_digit(c); }

/// Bit i: the i-th of 16 bytes belongs to a word.
#if defined(__x86_64__)
unsigned word_bits(const char* bytes) {
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const auto in_range = [](__m128i value, char first, char count) {
    const __m128i offset = _mm_sub_epi8(value, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(offset, _mm_set1_epi8(static_cast<char>(count - 1))), offset);
  };
  const __m128i letter = in_range(_mm_or_si128(text, _mm_set1_epi8(0x20)), 'a', 26);
  const __m128i digit = in_range(text, '0', 10);
  const __m128i underscore = _mm_cmpeq_epi8(text, _mm_set1_epi8('_'));
  const __m128i ascii_word = _mm_or_si128(_mm_or_si128(letter, digit), underscore);
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(ascii_word, text)));
}
#else
unsigned word_bits(const char* bytes) {
  unsigned bits = 0;
  for (unsigned i = 0; i < step; ++i)
    bits |= is_word_byte(bytes[i]) ? 1U << i : 0U;
  return bits;
}
#endif

} // namespace

namespace {

/// Four bytes, ASCII case folded: bit 5 is what tells upper from lower case. Setting it makes some other
/// bytes alike too, which costs a comparison and nothing else.
std::uint32_t folded_bytes(const char* bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value | 0x20202020U;
}

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word_byte(text[at]))
    ++at;
  return at;
}

std::string_view first_word(std::string_view name) { return name.substr(0, word_end(name, 0)); }

/// `text` begins with the name, and the name ends where a word does, unless the server may have cut it.
bool begins_with_name(std::string_view text, std::string_view wanted) {
  if (!equals_folded(text.substr(0, wanted.size()), wanted)) return false;
  if (wanted.size() >= cut_name_bytes || wanted.size() == text.size()) return true;
  return !is_word_byte(wanted.back()) || !is_word_byte(text[wanted.size()]);
}

} // namespace

std::uint32_t word_scanner::filter_hash(std::uint32_t first_bytes) {
  return (first_bytes * 0x9E3779B1U) >> (32U - filter_bits);
}

/// By length, beginning and end: names of one schema share their beginnings.
std::size_t word_scanner::slot_of(std::string_view word) const {
  const std::uint32_t begin = folded_bytes(word.data());
  const std::uint32_t end = folded_bytes(word.data() + word.size() - prefix_bytes);
  const std::uint32_t mixed =
      (begin * 0x9E3779B1U) ^ (end * 0x85EBCA77U) ^ (static_cast<std::uint32_t>(word.size()) * 0xC2B2AE3DU);
  return (mixed ^ mixed >> 15U) & (slot_begin_.size() - 2);
}

bool word_scanner::may_take(std::string_view name) { return first_word(name).size() >= prefix_bytes; }

word_scanner::word_scanner(std::vector<name> names) {
  std::size_t slots = 16;
  while (slots < 4 * names.size())
    slots *= 2;
  slot_begin_.assign(slots + 1, 0);
  for (name& each : names) {
    std::transform(each.text.begin(), each.text.end(), each.text.begin(), fold_ascii);
    const std::uint32_t hash = filter_hash(folded_bytes(each.text.data()));
    filter_[hash / 64] |= std::uint64_t{1} << (hash % 64);
    (first_word(each.text).size() >= cut_name_bytes ? cut_names_ : names_).push_back(std::move(each));
  }
  const auto slot = [&](const name& each) { return slot_of(first_word(each.text)); };
  std::sort(names_.begin(), names_.end(),
            [&](const name& left, const name& right) { return slot(left) < slot(right); });
  for (const name& each : names_)
    ++slot_begin_[slot(each) + 1];
  for (std::size_t i = 1; i < slot_begin_.size(); ++i)
    slot_begin_[i] += slot_begin_[i - 1];
}

mention_mask word_scanner::at_word(std::string_view text, std::size_t at) const {
  if (text.size() - at < prefix_bytes) return 0;
  const std::uint32_t hash = filter_hash(folded_bytes(text.data() + at));
  if ((filter_[hash / 64] >> (hash % 64) & 1U) == 0) return 0;
  const std::size_t size = word_end(text, at) - at;
  if (size < prefix_bytes) return 0;
  const std::string_view rest = text.substr(at);
  mention_mask found = 0;
  const std::size_t slot = slot_of(rest.substr(0, size));
  for (std::uint32_t i = slot_begin_[slot]; i < slot_begin_[slot + 1]; ++i) {
    if (begins_with_name(rest, names_[i].text)) found |= names_[i].bit;
  }
  if (size < cut_name_bytes) return found;
  for (const name& each : cut_names_) {
    if (begins_with_name(rest, each.text)) found |= each.bit;
  }
  return found;
}

mention_mask word_scanner::find(std::string_view text) const {
  if (slot_begin_.empty()) return 0;
  mention_mask found = 0;
  unsigned inside = 0; // whether the byte before this block belongs to a word
  for (std::size_t at = 0; at < text.size(); at += step) {
    char last_block[step];
    const char* bytes = text.data() + at;
    if (text.size() - at < step) {
      std::memset(last_block, 0, sizeof last_block);
      std::memcpy(last_block, bytes, text.size() - at);
      bytes = last_block;
    }
    const unsigned words = word_bits(bytes);
    for (unsigned starts = words & ~(words << 1U | inside); starts != 0; starts &= starts - 1)
      found |= at_word(text, at + static_cast<std::size_t>(__builtin_ctz(starts)));
    inside = words >> (step - 1) & 1U;
  }
  return found;
}

} // namespace ledgergate::sql
