//===- Resolvers.h - Functions that run before thread-local storage exists ----------------------------------------===//
//
// Finds the functions that run before there is thread-local storage; they get no probes. Pass.cpp, Sections.cpp and ThreadLocals.cpp each
// call it once for a module, before they change a function. It changes nothing.
//
// The resolver of an ifunc runs while the program is being relocated. In a static program, there is no thread-local storage yet, and a probe's
// block is thread-local. So resolvers, and all functions of the module that they may reach by calls, are left alone. Functions of other
// modules that they call may have probes: programs that the drivers link statically have a block for these (entry.S of the probe library).
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
