// Turns the names that the linker knows into those of the source. Called by Exclusions.cpp, Known.cpp, Report.cpp and
// Sections.cpp. See Names.h.
#include "analysis/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace caudal {

/// Takes the hash after one of Rust's older names, which is 'h' and 16 digits; false: it is none.
static bool takeHash(StringRef &name) {
  static constexpr size_t length = 3 + 16;
  StringRef hash = name.take_back(length);
  if (hash.size() < length || !hash.consume_front("::h") || !all_of(hash, isHexDigit))
    return false;
  name = name.drop_back(length);
  return true;
}

/// The character that `$name$` stands for in them; 0: unknown.
static char unescaped(StringRef name) {
  static constexpr std::pair<StringLiteral, char> known[] = {
      {"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'}, {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','},
  };
  for (const auto &[escape, character] : known)
    if (name == escape)
      return character;
  unsigned code;
  return name.consume_front("u") && !name.getAsInteger(16, code) && isPrint(char(code)) && code < 128 ? char(code) : 0;
}

std::string sourceName(StringRef symbol) {
  // Thin LTO puts something after the names of what it shares between modules.
  std::string written = demangle(symbol.split(".llvm.").first);
  StringRef left = written;
  if (!takeHash(left))
    return demangle(symbol);
  std::string name;
  while (!left.empty()) {
    // A part that begins with an escape has a '_' in front.
    if ((name.empty() || StringRef(name).ends_with("::")) && left.starts_with("_$"))
      left = left.drop_front();
    size_t end = left.front() == '$' ? left.find('$', 1) : StringRef::npos;
    if (char character = end != StringRef::npos ? unescaped(left.slice(1, end)) : 0) {
      name += character;
      left = left.drop_front(end + 1);
    } else if (left.consume_front("..")) {
      name += "::";
    } else {
      name += left.front();
      left = left.drop_front();
    }
  }
  return name;
}

} // namespace caudal
