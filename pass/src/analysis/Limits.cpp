#include "analysis/Limits.h"
#include "analysis/Calls.h"

namespace caudal {

Limits Limits::ofFunction(const llvm::Function &function) const {
  Limits own = *this;
  own.across = isOwn(function) ? call : std::min(across, call);
  return own;
}

} // namespace caudal
