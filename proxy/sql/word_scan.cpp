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

/// Bit 5 is what tells upper from lower case; setting it makes some other bytes alike too, which costs a
/// comparison and nothing else.
std::uint32_t word_scanner::hash_at(const char* four_bytes) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, four_bytes, sizeof bytes);
  return ((bytes | 0x20202020U) * 0x9E3779B1U) >> (32U - hash_bits);
}

bool word_scanner::may_take(std::string_view name) {
  return name.size() >= prefix_bytes &&
         std::all_of(name.begin(), name.begin() + prefix_bytes, [](char c) { return is_word_byte(c); });
}

word_scanner::word_scanner(std::vector<name> names) : names_(std::move(names)) {
  for (name& each : names_)
    std::transform(each.text.begin(), each.text.end(), each.text.begin(), fold_ascii);
  const auto hash_of = [](const name& each) { return hash_at(each.text.data()); };
  std::sort(names_.begin(), names_.end(),
            [&](const name& left, const name& right) { return hash_of(left) < hash_of(right); });
  first_of_hash_.assign(hash_count + 1, 0);
  for (const name& each : names_) {
    const std::uint32_t hash = hash_of(each);
    filter_[hash / 64] |= std::uint64_t{1} << (hash % 64);
    ++first_of_hash_[hash + 1];
  }
  for (std::size_t i = 1; i <= hash_count; ++i)
    first_of_hash_[i] += first_of_hash_[i - 1];
}

bool word_scanner::matches(std::string_view text, std::size_t at, const std::string& wanted) const {
  const std::size_t size = wanted.size();
  if (text.size() - at < size) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (fold_ascii(text[at + i]) != wanted[i]) return false;
  }
  if (size >= cut_name_bytes || at + size == text.size()) return true;
  return !is_word_byte(wanted.back()) || !is_word_byte(text[at + size]);
}

mention_mask word_scanner::at_word(std::string_view text, std::size_t at) const {
  if (text.size() - at < prefix_bytes) return 0;
  const std::uint32_t hash = hash_at(text.data() + at);
  if ((filter_[hash / 64] >> (hash % 64) & 1U) == 0) return 0;
  mention_mask found = 0;
  for (std::uint32_t i = first_of_hash_[hash]; i < first_of_hash_[hash + 1]; ++i) {
    if (matches(text, at, names_[i].text)) found |= names_[i].bit;
  }
  return found;
}

mention_mask word_scanner::find(std::string_view text) const {
  if (names_.empty()) return 0;
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
