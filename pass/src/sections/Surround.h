//===- Surround.h - Calls before code and after it, whichever way it is left --------------------------------------===//
//
// Puts calls before code and after it, on every path out of it. Called by LibraryCalls.cpp, SurroundedCalls.cpp,
// Sections.cpp and ThreadLocals.cpp.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SURROUND_H
#define CAUDAL_PASS_SURROUND_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace caudal {

/// Gives what `builder` makes the line of `of`, or of its function; calls without one are refused in functions that have debug information.
void giveLine(llvm::IRBuilder<> &builder, const llvm::Instruction &of);

/// A call of `callee`, which does not throw, before `place`, with the line of `of`.
llvm::CallInst *callBefore(llvm::Instruction *place, const llvm::Instruction &of, llvm::FunctionCallee callee,
                           llvm::ArrayRef<llvm::Value *> arguments);

/// Where the code after a call begins, when it returns.
llvm::Instruction *behind(llvm::CallBase &call);

/// Makes a call that may unwind one whose exceptions come to a landing pad here, which lets them go on.
llvm::InvokeInst *catchUnwinding(llvm::CallInst &call);

/// Where the code after a call begins, when it unwinds; null: it does not.
llvm::Instruction *behindUnwinding(llvm::InvokeInst &invoke);

} // namespace caudal

#endif
