// The fuzzer's bytes as choices, and copies of them in blocks of exactly their size, so that a read past the
// end is seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace ledgergate::test {

/// A heap block of exactly this size.
class exact_bytes {
 public:
  exact_bytes(const std::uint8_t* data, std::size_t size) : bytes_(new char[size]), size_(size) {
    std::copy_n(data, size, bytes_.get());
  }
  std::string_view view() const { return {bytes_.get(), size_}; }
  bool holds(std::string_view part) const {
    return part.empty() || (part.data() >= bytes_.get() && part.data() + part.size() <= bytes_.get() + size_);
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

/// Choices, one byte each; zero when the bytes are used up.
class byte_source {
 public:
  byte_source(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  bool empty() const { return size_ == 0; }
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  std::size_t below(std::size_t bound) { return byte() % bound; }
  std::string_view bytes(std::size_t count) {
    count = std::min(count, size_);
    const std::string_view out(reinterpret_cast<const char*>(data_), count);
    data_ += count;
    size_ -= count;
    return out;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

} // namespace ledgergate::test
