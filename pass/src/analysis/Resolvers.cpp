// Finds the functions that run before there is thread-local storage; they get no probes. Called by Pass.cpp, Sections.cpp and
// ThreadLocals.cpp. See Resolvers.h.
#include "analysis/Resolvers.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace caudal {

DenseSet<const Function *> findResolvers(const Module &module) {
  DenseSet<const Function *> found;
  SmallVector<const Function *, 8> pending;
  auto add = [&](const Function *function) {
    if (function && !function->isDeclaration() && found.insert(function).second)
      pending.push_back(function);
  };
  for (const GlobalIFunc &indirect : module.ifuncs())
    add(indirect.getResolverFunction());
  while (!pending.empty())
    for (const Instruction &instruction : instructions(*pending.pop_back_val()))
      // Functions whose address a resolver takes are mostly what it chooses from, and run later.
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        add(dyn_cast<Function>(call->getCalledOperand()->stripPointerCastsAndAliases()));
  return found;
}

} // namespace caudal
