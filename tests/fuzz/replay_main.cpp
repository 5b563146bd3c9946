// Runs a fuzz target over the files of the given folders: the corpus (first, must not be empty) and the
// inputs that once crashed. Ends by crashing, as under the fuzzer, when an input breaks a property.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::size_t replay(const std::filesystem::path& folder) {
  std::size_t count = 0;
  if (!std::filesystem::is_directory(folder)) return count;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::cout << entry.path().string() << std::endl;
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++count;
  }
  return count;
}

} // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::size_t count = replay(argv[i]);
    std::cout << count << " inputs in " << argv[i] << '\n';
    if (i == 1 && count == 0) return 1;
  }
  return argc > 1 ? 0 : 64;
}
