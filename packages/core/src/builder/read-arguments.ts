import { guardArguments, isObject, requireArgument } from '../model/guard-arguments.ts';
import { fail, type Result } from '../model/result.ts';
import { SluiceError } from '../model/sluice-error.ts';
import type { BuildError, BuildOptions } from './pipeline-builder.ts';
import { edgeText } from './step-document.ts';

/** A part of a pipeline, with the form that it has in a file. */
interface NamedPart {
  readonly name: string;
  readonly document: unknown;
}

/** The arguments of `output`. */
export function readOutput(key: unknown, from: unknown, options: unknown): NamedPart {
  requireArgument(typeof key === 'string', 'output: the name must be a string');
  return guardArguments(`output ${key}`, () => {
    requireArgument(
      isObject(from) && ('output' in from || 'within' in from),
      `output ${key}: expected an output of a step`,
    );
    requireArgument(isObject(options), `output ${key}: the options must be an object`);
    const { publish } = options;
    return { name: key, document: { from: edgeText(from), ...(publish !== undefined && { publish }) } };
  });
}

/** The argument of `results`. */
export function readResults(declared: unknown): readonly NamedPart[] {
  return guardArguments('results', () => {
    requireArgument(isObject(declared), 'results: expected an object with results of steps');
    return Object.entries(declared).map(([name, handle]) => {
      requireArgument(isObject(handle) && 'result' in handle, `results: ${name} is not a result of a step`);
      return { name, document: `${handle.step}.${handle.result}` };
    });
  });
}

/** The function `read` of the options of `build`. */
export function readBuildOptions(name: string, options: unknown): BuildOptions['read'] {
  const what = `build of ${name}`;
  return guardArguments(what, () => {
    requireArgument(isObject(options), `${what}: the options must be an object`);
    const { read } = options;
    requireArgument(read === undefined || typeof read === 'function', `${what}: read must be a function`);
    return read as BuildOptions['read'];
  });
}

/** Returns a `SluiceError` `INVALID_ARGUMENT` that the call throws. */
export function catchArgument<T>(call: () => Result<T, BuildError>): Result<T, BuildError> {
  try {
    return call();
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'INVALID_ARGUMENT') return fail(error as BuildError);
    throw error;
  }
}
