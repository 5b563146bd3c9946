// A folder of its own for one test, removed with everything in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace ledgergate {

class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ledgergate-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return (path_ / name).string(); }

  /// Replaces the file as a rotated secret is replaced: a new file takes its name.
  std::string write(const std::string& name, const std::string& content) const {
    const std::string next = file(name) + ".next";
    std::ofstream(next) << content;
    std::filesystem::rename(next, file(name));
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

} // namespace ledgergate
