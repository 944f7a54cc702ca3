//===- ProbesInCode.h - Probes that stand in code, recognised -----------------------------------------------------===//
//
// How others than their writer (Probe.h) know probes: the planner and the verifier among instructions, and the machine pass (Gaps.h) by
// the text of assembly. What a probe is made of is named here, so that writer and readers agree.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_PROBESINCODE_H
#define CAUDAL_PASS_PROBESINCODE_H

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include <string>

namespace caudal {

/// In a probe's assembly: the jump, the first three bytes of `nopl disp32(%rax,%rbp,8)`, whose last five are those of a call (e8 reads as
/// its index byte), and that call. Numbered labels are all assembly's of a file: this is none that a program has.
inline constexpr llvm::StringLiteral jumpIn = " 90417f\n\t.byte 0x0f, 0x1f, 0x84\n90417:\tcall ";
/// The end of an entry's name that is the name of the register that has the budget, without the percent sign.
inline constexpr llvm::StringLiteral ofRegister = ":P}_${0:V}";
/// The beginnings of the names of the library's cold entries, and of its probes that are called.
inline constexpr llvm::StringLiteral coldPrefix = "caudal_probe_cold_", spendPrefix = "caudal_probe_spend_", lookName = "caudal_probe_look_v1";
/// The attribute of functions that the pass adds.
inline constexpr llvm::StringLiteral ownAttribute = "caudal-own";

/// The name of the whole probe that `instruction` calls; empty: it calls none.
llvm::StringRef calledProbe(const llvm::Instruction &instruction);
/// Whether `instruction` is a probe, in memory or in a register, in place or called.
bool isProbe(const llvm::Instruction &instruction);
/// Whether it is one in place, with a jump of its own.
bool isInlineProbe(const llvm::Instruction &instruction);
/// Whether `call` is other assembly that enters the cold path: the program's own.
bool isColdCall(const llvm::CallBase &call);
/// Whether the pass has added `function` to its module.
bool isOwnFunction(const llvm::Function &function);

/// Whether `assembly` is a probe's whose call lies within an instruction that does nothing.
bool hasCallInside(llvm::StringRef assembly);

/// Whether the name of what such a probe calls ends with the register that has the budget.
bool namesRegister(llvm::StringRef assembly);

/// Such a probe without the call: it jumps to `call` instead, and has the label `back` at its end.
std::string withCallAside(llvm::StringRef assembly, llvm::StringRef call, llvm::StringRef back);

} // namespace caudal

#endif
