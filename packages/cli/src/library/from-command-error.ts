import { SluiceError } from '@sluice/core';
import { type CommandError, wholeMessage } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import type { SluiceErrorCode } from './error-code.ts';

/** Why a command would stop, as an error of the library. `otherwise` is the code of one that has none of its own. */
export function fromCommandError(error: CommandError, otherwise: SluiceErrorCode): SluiceError<SluiceErrorCode> {
  const { exitCode, cause, code } = error;
  const message = wholeMessage(error);
  if (cause !== undefined) return new SluiceError(cause.code, message, { cause });
  if (code !== undefined) return new SluiceError(code as SluiceErrorCode, message);
  return new SluiceError(CODES[exitCode] ?? otherwise, message);
}

const CODES: { readonly [exitCode: number]: SluiceErrorCode } = {
  [EXIT_CODE.unreachable]: 'UNREACHABLE',
  [EXIT_CODE.busy]: 'GROUP_BUSY',
  [EXIT_CODE.suspended]: 'NOT_EXECUTED',
};
