// Recognises probes that stand in code. Called by the planner, the verifier, and the files in insert/ and emit/. See
// ProbesInCode.h.
#include "analysis/ProbesInCode.h"
#include "Compat.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace caudal {

static const InlineAsm *assemblyOf(const Instruction &instruction) {
  const auto *call = dyn_cast<CallBase>(&instruction);
  return call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
}

StringRef calledProbe(const Instruction &instruction) {
  const InlineAsm *assembly = assemblyOf(instruction);
  if (!assembly || !StringRef(assembly->getAsmString()).starts_with("call ${"))
    return "";
  const auto &call = cast<CallBase>(instruction);
  StringRef name = call.arg_size() ? call.getArgOperand(call.arg_size() - 1)->getName() : "";
  return name.starts_with(spendPrefix) || name.starts_with(lookName) ? name : "";
}

bool namesRegister(StringRef assembly) { return assembly.ends_with(ofRegister); }

bool hasCallInside(StringRef assembly) { return assembly.contains(jumpIn); }

std::string withCallAside(StringRef assembly, StringRef call, StringRef back) {
  return (assembly.split(jumpIn).first + " " + call + "\n" + back + ":").str();
}

bool isInlineProbe(const Instruction &instruction) {
  const InlineAsm *assembly = assemblyOf(instruction);
  return assembly && contains(*assembly, jumpIn);
}

bool isProbe(const Instruction &instruction) {
  return isInlineProbe(instruction) || !calledProbe(instruction).empty();
}

bool isOwnFunction(const Function &function) { return function.hasFnAttribute(ownAttribute); }

bool isColdCall(const CallBase &call) {
  const InlineAsm *assembly = assemblyOf(call);
  return assembly && !isProbe(call) && contains(*assembly, coldPrefix);
}

} // namespace caudal
