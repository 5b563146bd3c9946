#include "proxy/gate/reply_queue.hpp"

#include <algorithm>
#include <utility>

namespace ledgergate::gate {

namespace {
constexpr std::size_t first_capacity = 8; // a power of two, as every later one
}

expected_reply& reply_queue::push(reply_kind kind, reply_owner owner, reply_purpose purpose) {
  if (size_ == ring_.size()) grow();
  ++size_;
  expected_reply& entry = back();
  entry = expected_reply{};
  entry.kind = kind;
  entry.owner = owner;
  entry.purpose = purpose;
  return entry;
}

void reply_queue::pop() {
  expected_reply& entry = front();
  entry.name.reset();
  entry.sql_names.reset();
  head_ = (head_ + 1) & (ring_.size() - 1);
  --size_;
}

void reply_queue::remove(std::size_t index) {
  for (std::size_t i = index; i > 0; --i)
    at(i) = std::move(at(i - 1));
  pop();
}

void reply_queue::grow() {
  std::vector<expected_reply> larger(std::max(first_capacity, ring_.size() * 2));
  for (std::size_t i = 0; i < size_; ++i)
    larger[i] = std::move(at(i));
  ring_ = std::move(larger);
  head_ = 0;
}

} // namespace ledgergate::gate
