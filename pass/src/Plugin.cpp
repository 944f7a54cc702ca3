//===- Plugin.cpp - How compilers and linkers find the pass -------------------------------------------------------===//
//
// The entry of the plugin: it registers the pass where compilers and linkers look for it. LLVM calls it when it loads the
// plugin. It reads the options, from the command line or from the file beside the plugin.
//
// The pass runs at the end of optimisation: in a compilation without link-time optimisation, after the import of thin LTO, or at
// the end of full LTO. In a compilation before a link that optimises again, functions are only marked (Marks.h). Functions whose
// names matter are kept from being inlined, which has to be done before the inliner runs (KeepNames.h). For tests,
// `opt -passes='caudal-probes<mode=flag>'` runs the pass by name.
//
//===--------------------------------------------------------------------------------------------------------------===//
#include "emit/Gaps.h"
#include "sections/Marks.h"
#include "Pass.h"
#include "sections/KeepNames.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <dlfcn.h>
#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

using namespace llvm;

/// clang hands options to a plugin by LLVM's own command line only: `-mllvm -caudal-probes=mode=flag;bound=300`.
static cl::opt<std::string> commandLine("caudal-probes", cl::desc("Options of Caudal's probes: key=value;key;..."),
                                        cl::value_desc("options"));

/// The options in the file beside the plugin; empty: there is none. Linkers hand nothing on to a plugin, so who drives one
/// gives it a directory with a link to the plugin and this file.
static std::string optionsBeside() {
  Dl_info plugin;
  if (!dladdr(&commandLine, &plugin) || !plugin.dli_fname)
    return "";
  auto file = MemoryBuffer::getFile(std::string(plugin.dli_fname) + ".options", /*IsText=*/true);
  return file ? (*file)->getBuffer().trim().str() : "";
}

static Expected<caudal::Options> optionsGiven() {
  return caudal::Options::parse(commandLine.getNumOccurrences() ? std::string(commandLine) : optionsBeside());
}

/// In place of the pass, where its options are wrong: an error of the compilation. One that ends it here would look like a crash.
class RefusePass : public PassInfoMixin<RefusePass> {
public:
  explicit RefusePass(Error error) : why_(toString(std::move(error))) {}
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    module.getContext().emitError(why_);
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  std::string why_;
};

static bool runsInPhase(ThinOrFullLTOPhase phase) {
  return phase == ThinOrFullLTOPhase::None || phase == ThinOrFullLTOPhase::ThinLTOPostLink;
}

/// `isLast`: no link is going to optimise again, as far as that is known.
static void addPass(ModulePassManager &passes, Expected<caudal::Options> options, bool isLast) {
  if (!options)
    passes.addPass(RefusePass(options.takeError()));
  else if (options->off || options->atLink || !isLast)
    passes.addPass(caudal::MarkPass(*options));
  else
    passes.addPass(caudal::ProbePass(*options));
}

static void addKeepNames(ModulePassManager &passes, bool isSimplified) {
  if (Expected<caudal::Options> options = optionsGiven())
    passes.addPass(caudal::KeepNamesPass(*options, isSimplified));
  else
    consumeError(options.takeError()); // addPass says what is wrong
}

static bool parseByName(StringRef name, ModulePassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
  if (!name.consume_front("caudal-probes"))
    return false;
  if (!name.empty() && !(name.consume_front("<") && name.consume_back(">")))
    return false;
  addPass(passes, caudal::Options::parse(name), /*isLast=*/true);
  return true;
}

static void registerPasses(PassBuilder &builder) {
  builder.registerPipelineParsingCallback(parseByName);
#if LLVM_VERSION_MAJOR >= 20
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager &passes, OptimizationLevel, ThinOrFullLTOPhase phase) {
        addPass(passes, optionsGiven(), runsInPhase(phase));
      });
#else
  builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel) {
    addPass(passes, optionsGiven(), /*isLast=*/true);
  });
#endif
  // A profile of samples inlines at the start. After thin LTO's import there is none, and no plugin has seen before what rustc
  // compiles.
  builder.registerPipelineStartEPCallback([](ModulePassManager &passes, OptimizationLevel) {
    addKeepNames(passes, /*isSimplified=*/false);
  });
  auto keepNames = [](ModulePassManager &passes, OptimizationLevel) {
    addKeepNames(passes, /*isSimplified=*/true);
  };
#if LLVM_VERSION_MAJOR >= 20
  builder.registerPipelineEarlySimplificationEPCallback(
      [keepNames](ModulePassManager &passes, OptimizationLevel level, ThinOrFullLTOPhase) { keepNames(passes, level); });
#else
  builder.registerPipelineEarlySimplificationEPCallback(keepNames);
#endif
  builder.registerFullLinkTimeOptimizationEarlyEPCallback(keepNames);
  builder.registerFullLinkTimeOptimizationLastEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) { addPass(passes, optionsGiven(), /*isLast=*/true); });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  caudal::useGaps();
  return {LLVM_PLUGIN_API_VERSION, "caudal-probes", "1", registerPasses};
}
