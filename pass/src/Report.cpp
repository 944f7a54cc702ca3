// Writes which functions got probes, and which did not and why, as JSON lines. Called by Pass.cpp, Bounded.cpp and
// Sections.cpp, with the option `report`. See Report.h.
#include "Report.h"
#include "analysis/Names.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace caudal {

static std::string place(const DebugLoc &location) {
  if (!location)
    return "";
  return (location->getFilename() + ":" + Twine(location.getLine())).str();
}

static StringRef loopKindName(LoopKind kind) {
  switch (kind) {
  case LoopKind::Short:
    return "short";
  case LoopKind::Probed:
    return "probed";
  case LoopKind::Stripped:
    return "strips";
  case LoopKind::Each:
    return "each";
  }
  llvm_unreachable("a kind of loop without a name");
}

static json::Object head(const Module &module, const Function &function, StringRef event) {
  return json::Object{{"event", event}, {"module", module.getName()}, {"function", sourceName(function.getName())}};
}

static std::string line(json::Object object) {
  std::string text;
  raw_string_ostream stream(text);
  stream << json::Value(std::move(object)) << '\n';
  return text;
}

/// Calls whose time is assumed, by name, so that a reader sees what the bound rests on.
static json::Array assumed(const Function &function) {
  StringSet<> seen;
  json::Array names;
  for (const Instruction &instruction : instructions(function)) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    if (!call)
      continue;
    Callee kind = Calls::kind(*call);
    if (kind == Callee::Known || kind == Callee::Inlined)
      continue;
    std::string name = kind == Callee::Assembly ? "(inline assembly)"
                       : call->getCalledFunction() ? sourceName(call->getCalledFunction()->getName())
                                                   : "(through a pointer)";
    if (seen.insert(name).second)
      names.push_back(name);
  }
  return names;
}

void Report::planned(const Function &function, const Plan &plan) {
  json::Object object = head(module_, function, "probed");
  json::Array sites, loops;
  for (const Site &site : plan.sites)
    sites.push_back(json::Object{{"at", place(site.before->getDebugLoc())},
                                 {"longest_cycles", site.longest.inCycles()},
                                 {"expected_cycles", site.expected.inCycles()}});
  for (const LoopNote &note : plan.loops)
    loops.push_back(json::Object{{"at", place(note.loop->getStartLoc())},
                                 {"kind", loopKindName(note.kind)},
                                 {"iterations", int64_t(note.length)}});
  // A loop that is cut into strips has a probe that is no site.
  object["probes"] = int64_t(plan.sites.size()) + count_if(plan.loops, [](const LoopNote &note) { return note.kind == LoopKind::Stripped; });
  object["sites"] = std::move(sites);
  object["loops"] = std::move(loops);
  object["assumed_calls"] = assumed(function);
  lines_.push_back(line(std::move(object)));
}

void Report::verified(const Function &function, const Verified &verified) {
  json::Object object = head(module_, function, "verified");
  object["longest_cycles"] = verified.longest.inCycles();
  lines_.push_back(line(std::move(object)));
}

void Report::leftAlone(const Function &function, StringRef why) {
  json::Object object = head(module_, function, "left-alone");
  object["why"] = why;
  lines_.push_back(line(std::move(object)));
}

void Report::note(const Function &function, StringRef event, StringRef what, const DebugLoc &at) {
  json::Object object = head(module_, function, event);
  object["what"] = what;
  object["at"] = place(at);
  lines_.push_back(line(std::move(object)));
}

void Report::sections(const StringMap<int64_t> &calls) {
  if (calls.empty())
    return;
  json::Object counts;
  for (const auto &entry : calls)
    counts[sourceName(entry.getKey())] = entry.getValue();
  lines_.push_back(
      line(json::Object{{"event", "sections"}, {"module", module_.getName()}, {"calls", std::move(counts)}}));
}

Error Report::write() const {
  if (options_.report.empty())
    return Error::success();
  std::error_code code;
  raw_fd_ostream file(options_.report, code, sys::fs::OF_Append);
  if (code)
    return createStringError(code, "caudal-probes: cannot write the report " + options_.report + ": " + code.message());
  // One write a module: lines of compilers that run side by side do not mix.
  std::string all;
  for (const std::string &line : lines_)
    all += line;
  file.SetBufferSize(all.size() + 1);
  file << all;
  return Error::success();
}

} // namespace caudal
