import type { ServiceError } from '@sluice/client';
import type { ExitCode } from './exit-code.ts';

/** Why a command stops early. */
export interface CommandError {
  readonly exitCode: ExitCode;
  /** For programs, in capitals; absent: that of the exit code. */
  readonly code?: string;
  /** One line, without its end. */
  readonly message: string;
  /** Further lines that belong to the message, for example what can be chosen. */
  readonly lines?: readonly string[];
  /** What the service has replied. */
  readonly cause?: ServiceError;
}

/** All lines of a rejection, for what shows one text. */
export function wholeMessage({ message, lines = [] }: Pick<CommandError, 'message' | 'lines'>): string {
  return [message, ...lines].join('\n');
}
