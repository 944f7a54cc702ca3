// Reads the options of the pass. Called by Plugin.cpp; their values go to all other files. See Options.h.
#include "Options.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace caudal {

static constexpr struct {
  Mode mode;
  StringLiteral name;
} modes[] = {
    {Mode::Clock, "clock"},
    {Mode::Budget, "budget"},
    {Mode::Flag, "flag"},
    {Mode::InstructionCounter, "instruction-counter"},
    {Mode::CounterGatedClock, "counter-gated-clock"},
};

StringRef modeName(Mode mode) {
  for (const auto &known : modes)
    if (known.mode == mode)
      return known.name;
  return "";
}

static Error bad(const Twine &what) {
  return createStringError(inconvertibleErrorCode(), "caudal-probes: " + what);
}

static Error parseMode(StringRef value, Mode &mode) {
  for (const auto &known : modes) {
    if (known.name == value) {
      mode = known.mode;
      return Error::success();
    }
  }
  return bad("mode=" + value + ": one of clock, budget, flag, instruction-counter, counter-gated-clock");
}

static Error parseTls(StringRef value, Tls &tls) {
  if (value != "auto" && value != "initial-exec" && value != "local-exec")
    return bad("tls=" + value + ": one of auto, initial-exec, local-exec");
  tls = value == "auto" ? Tls::Auto : value == "initial-exec" ? Tls::InitialExec : Tls::LocalExec;
  return Error::success();
}

static Error parseCycles(StringRef key, StringRef value, unsigned least, unsigned most, unsigned &cycles) {
  if (value.getAsInteger(10, cycles) || cycles < least || cycles > most)
    return bad(key + "=" + value + ": a number of cycles from " + Twine(least) + " to " + Twine(most));
  return Error::success();
}

static constexpr struct {
  Step step;
  StringLiteral name;
} steps[] = {
    {Step::SeparateLoops, "separate-loops"},
    {Step::UnrollUncounted, "unroll-uncounted"},
    {Step::UnrollCounted, "unroll-counted"},
    {Step::UnrollRecursion, "unroll-recursion"},
    {Step::TailCalls, "tail-calls"},
    {Step::Seldom, "seldom"},
    {Step::BudgetInLoops, "budget-in-loops"},
    {Step::DeferredChecks, "deferred-checks"},
    {Step::OwnSteps, "own-steps"},
    {Step::Gaps, "gaps"},
    {Step::AlignLoops, "align-loops"},
};

/// Names of mechanisms, with commas between.
static Error parseWithout(StringRef value, unsigned &without) {
  SmallVector<StringRef, 4> names;
  value.split(names, ',');
  for (StringRef name : names) {
    const auto *known = find_if(steps, [&](const auto &each) { return each.name == name; });
    if (known == std::end(steps))
      return bad("without=" + name + ": one of " + join(map_range(steps, [](const auto &each) { return each.name; }), ", "));
    without |= 1u << unsigned(known->step);
  }
  return Error::success();
}

static Error parseOne(StringRef key, StringRef value, Options &options) {
  options.saysMode |= key == "mode";
  options.saysBound |= key == "bound";
  options.saysUnknownCall |= key == "unknown-call";
  if (key == "mode")
    return parseMode(value, options.mode);
  if (key == "bound")
    return parseCycles(key, value, 16, 100000, options.bound);
  if (key == "unknown-call")
    return parseCycles(key, value, 0, 100000, options.unknownCall);
  if (key == "report" && !value.empty()) {
    options.report = value.str();
    return Error::success();
  }
  if (key == "exclude" && !value.empty()) {
    options.exclude = value.str();
    return Error::success();
  }
  if (key == "sections" && (value == "on" || value == "off")) {
    options.sections = value == "on";
    return Error::success();
  }
  if (key == "without")
    return parseWithout(value, options.without);
  if (key == "tls")
    return parseTls(value, options.tls);
  for (auto [name, option] : {std::pair("verify", &options.verify), {"at-link", &options.atLink}, {"off", &options.off}})
    if (key == name && value.empty()) {
      *option = true;
      return Error::success();
    }
  return bad(key + (value.empty() ? "" : "=" + value) +
             ": known are mode=, bound=, unknown-call=, tls=, report=FILE, exclude=FILE, sections=on|off, without=MECHANISM,..., at-link, off and verify");
}

Expected<Options> Options::parse(StringRef text) {
  Options options;
  SmallVector<StringRef, 8> parts;
  text.split(parts, ';', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [key, value] = part.trim().split('=');
    if (Error error = parseOne(key, value, options))
      return Expected<Options>(std::move(error));
  }
  if (options.verify && isBaseline(options.mode))
    return bad("verify: mode=" + modeName(options.mode) + " promises no bound that could be verified");
  return options;
}

} // namespace caudal
