// Reads the lists of functions that users have for `--probe-exclude`. Called by Sections.cpp, KeepNames.cpp and Marks.cpp. See
// Exclusions.h.
#include "sections/Exclusions.h"
#include "analysis/Names.h"
#include "llvm/Support/LineIterator.h"

using namespace llvm;

namespace caudal {

/// Takes the word before a name.
static Exclusion takeWord(StringRef &text) {
  auto [word, rest] = text.split(' ');
  Exclusion what = word == "nopreempt" ? Exclusion::NoPreempt : word == "call" ? Exclusion::Call : Exclusion::Leave;
  // A name as it is written in source may have blanks.
  if (what != Exclusion::Leave || word == "leave")
    text = rest.ltrim();
  return what;
}

Expected<Exclusions> Exclusions::read(StringRef path) {
  Exclusions result;
  if (path.empty())
    return result;
  auto file = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return createStringError(file.getError(),
                             "caudal-probes: cannot read the list " + path + ": " + file.getError().message());
  result.text_ = std::move(*file);
  for (line_iterator line(*result.text_, /*SkipBlanks=*/true, '#'); !line.is_at_end(); ++line) {
    StringRef text = line->split('#').first.trim();
    if (text.empty())
      continue;
    std::string place = (path + ":" + Twine(line.line_number())).str();
    Exclusion what = takeWord(text);
    Expected<GlobPattern> pattern = GlobPattern::create(text);
    if (!pattern || text.empty()) {
      std::string why = pattern ? "a name is missing" : toString(pattern.takeError());
      return createStringError(inconvertibleErrorCode(), "caudal-probes: " + place + ": " + why +
                                                             "; a line is NAME, leave NAME, nopreempt NAME or call NAME");
    }
    result.rules_.push_back({what, std::move(*pattern), std::move(place)});
  }
  return result;
}

const Exclusions::Rule *Exclusions::find(Exclusion what, StringRef symbol) const {
  if (rules_.empty())
    return nullptr;
  std::string written = sourceName(symbol);
  for (const Rule &rule : rules_)
    if (rule.what == what && (rule.pattern.match(symbol) || rule.pattern.match(written)))
      return &rule;
  return nullptr;
}

} // namespace caudal
