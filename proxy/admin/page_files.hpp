// The files of the operator's page, as they were when the binary was built.
#pragma once

#include <span>
#include <string_view>

namespace ledgergate::admin {

struct page_file {
  std::string_view path; ///< `/page.css`
  std::string_view content;
};

std::span<const page_file> page_files();

} // namespace ledgergate::admin
