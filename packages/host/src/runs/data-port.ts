import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';

/** The query parameters that name an input or an output of a step: exactly one. */
export const portQuery = {
  input: z.string().exactOptional().describe('its name; either this or `output`'),
  output: z.string().exactOptional().describe('its name; either this or `input`'),
};

/** An input or an output of a step, which may have both with the same name. */
export interface DataPort {
  readonly kind: 'input' | 'output';
  readonly name: string;
}

/** Throws `ApiError` `PARAMETER_INVALID` unless the query names exactly one. */
export function readDataPort({ input, output }: { readonly input?: string; readonly output?: string }): DataPort {
  if (input !== undefined && output === undefined) return { kind: 'input', name: input };
  if (output !== undefined && input === undefined) return { kind: 'output', name: output };
  throw new ApiError(400, 'PARAMETER_INVALID', 'could not choose the files: name either an input or an output');
}

/** The error for a step without it. */
export function unknownPort({ kind, name }: DataPort, step: string): ApiError {
  return new ApiError(404, kind === 'input' ? 'INPUT_NOT_FOUND' : 'OUTPUT_NOT_FOUND', `${step} has no ${kind} ${name}`);
}

/** The error for an output that no attempt has written, and an input of it. */
export function unwrittenPort({ kind, name }: DataPort, step: string): ApiError {
  return new ApiError(409, 'NOT_WRITTEN', `${step} has no files of the ${kind} ${name} yet: nothing has written to it`);
}
