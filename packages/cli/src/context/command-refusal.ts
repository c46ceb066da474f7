import type { ExitCode } from './exit-code.ts';

/** Why a command stops early. `message` has no final newline and may have several lines. */
export interface CommandRefusal {
  readonly exitCode: ExitCode;
  /** For programs, in capitals; absent: that of the exit code. */
  readonly code?: string;
  readonly message: string;
}
