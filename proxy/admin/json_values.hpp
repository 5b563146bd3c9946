// Small conversions shared by the renderers.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <boost/json/value.hpp>

#include "proxy/admin/json_render.hpp"

namespace ledgergate::admin {

/// Whole milliseconds, rounded.
inline boost::json::value in_milliseconds(transition::elapsed duration) {
  return std::chrono::round<std::chrono::milliseconds>(duration).count();
}

inline boost::json::value in_milliseconds(const std::optional<transition::elapsed>& duration) {
  return duration ? in_milliseconds(*duration) : boost::json::value(nullptr);
}

inline boost::json::value text_or_null(const std::string& text) {
  return text.empty() ? boost::json::value(nullptr) : boost::json::value(text);
}

inline boost::json::value text_or_null(const std::optional<std::string>& text) {
  return text ? boost::json::value(*text) : boost::json::value(nullptr);
}

inline boost::json::value time_or_null(const std::optional<transition::wall_time>& time) {
  return time ? boost::json::value(to_rfc3339(*time)) : boost::json::value(nullptr);
}

} // namespace ledgergate::admin
