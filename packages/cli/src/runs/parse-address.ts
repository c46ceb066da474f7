import { fail, ok, type Result } from '@sluice/core';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';

/** Something inside a run, as `STEP[/CELL][.OUTPUT[/PATH]]` names it. */
export interface Address {
  readonly step: string;
  readonly cell: string | undefined;
  readonly output: string | undefined;
  /** Path inside the output, without slashes at its end. */
  readonly path: string | undefined;
}

const ADDRESS = /^([^/.]+)(?:\/([^/.]+))?(?:\.([^/.]+)(?:\/(.*))?)?$/s;

/** Parses an address; whether the run has such a step, cell or output is for the caller to check. */
export function parseAddress(text: string): Result<Address, CommandError> {
  const [, step, cell, output, path] = ADDRESS.exec(text) ?? [];
  if (step !== undefined) return ok({ step, cell, output, path: path?.replace(/\/+$/, '') || undefined });
  const message = `could not read ${text}: expected STEP[/CELL][.OUTPUT[/PATH]]`;
  return fail({ exitCode: EXIT_CODE.rejected, message });
}

/** Parses the address of a step or of a cell, for commands that do not work on outputs. */
export function parseStepAddress(text: string): Result<Address, CommandError> {
  const address = parseAddress(text);
  if (!address.ok || address.value.output === undefined) return address;
  const message = `could not use ${text}: it names an output; expected STEP or STEP/CELL`;
  return fail({ exitCode: EXIT_CODE.rejected, message });
}
