// The exit codes of gatectl. Scripts rely on them; 0 and 2 to 5 say what happened to the mode.
#pragma once

namespace ledgergate::ctl {

enum class exit_code : int {
  done = 0,    ///< done, or it was so already
  refused = 2, ///< refused, or the sidecar could not be asked; nothing was touched
  aborted = 3, ///< the transition was tried and rolled back; the mode is unchanged
  unknown = 5, ///< the outcome is not known (yet), or the operator stopped watching
  usage = 64,  ///< the command line makes no sense
};

} // namespace ledgergate::ctl
