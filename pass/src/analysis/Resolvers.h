//===- Resolvers.h - What runs before thread-local storage exists -------------------------------------------------===//
//
// Finds the functions that run before there is thread-local storage; they get no probes. Called by Pass.cpp,
// Sections.cpp and ThreadLocals.cpp.
//
// The resolver of an ifunc runs while the program is being relocated: in a static program before there is any thread-local
// storage, and a probe's block is thread-local. So resolvers, and all functions of the module that they may come to by calls,
// are left alone. What they call in other modules may have probes: programs that the drivers link statically have a block for it
// (entry.S of the probe library).
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_RESOLVERS_H
#define CAUDAL_PASS_RESOLVERS_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Module.h"

namespace caudal {

/// Resolvers of ifuncs, and functions with a body that are called from them, by whatever number of calls.
llvm::DenseSet<const llvm::Function *> findResolvers(const llvm::Module &module);

} // namespace caudal

#endif
