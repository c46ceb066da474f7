import { join } from 'node:path';
import {
  guardArguments,
  isObject,
  type Json,
  ok,
  type Result,
  requireArgument,
  type SluiceError,
  writeValue,
} from '@sluice/core';
import type { LoadedPlan } from '../pipeline/load-plan.ts';
import type { PreparedRun } from '../runs/prepare-run.ts';
import type { Ordered } from '../runs/start-options.ts';
import { runServerOf } from './connection.ts';
import type { SluiceErrorCode } from './error-code.ts';
import { directoryOf, originOf } from './parse.ts';
import { createProgramContext } from './program-context.ts';
import type { SubmitOptions } from './run-options.ts';
import { buildGiven, planGiven, readParams } from './start-given.ts';

/** The beginning of the variables with secrets. */
const SECRET = 'SLUICE_SECRET_';

/** What a program submits, as a command would order it. */
export type Submission = Ordered & { readonly prepared: PreparedRun; readonly isBuilt: boolean };

/** Plans a pipeline, and finds the texts from which a server can plan it. */
export async function prepareSubmission(
  given: unknown,
  { params, paramsFile, secrets, baseDir, reuseFrom, parallelism, service, ...read }: SubmitOptions<unknown>,
): Promise<Result<Submission, SluiceError<SluiceErrorCode>>> {
  const built = buildGiven('submit: the first argument', given);
  if (!built.ok) return built;
  const values = readParams(built.value.pipeline, {
    ...(params && { params }),
    ...(paramsFile !== undefined && { paramsFile }),
  });
  if (!values.ok) return values;
  const directory = baseDir ?? directoryOf(built.value);
  const planned = await planGiven(built.value, { params: values.value, baseDir: directory });
  if (!planned.ok) return planned;
  const { plan, files } = planned.value;
  const { warnings } = built.value;
  const origin = originOf(built.value);
  const source = origin ? ok(origin) : writeBuilder(given, plan.pipeline.name);
  if (!source.ok) return source;
  const { file, texts, locate } = source.value;
  const server = service && runServerOf(service);
  return ok({
    file: origin ? file : join(directory, file),
    isBuilt: origin === undefined,
    context: createProgramContext(withSecrets(secrets)),
    options: {
      ...(read.home !== undefined && { home: read.home }),
      ...(read.profile !== undefined && { profile: read.profile }),
      ...(server && { service: server.url, cluster: server.scope.clusterID, account: server.scope.accountID }),
      ...(parallelism !== undefined && { parallelism }),
    },
    prepared: {
      loaded: { plan, baseDir: directory, warnings, texts, file, locate, files, given: writeParams(values.value) },
      ...(reuseFrom !== undefined && { reuse: { runId: reuseFrom, from: [] } }),
    },
  });
}

/** The file that a builder stands for; it exists nowhere. */
function writeBuilder(
  given: unknown,
  name: string,
): Result<Pick<LoadedPlan, 'file' | 'texts' | 'locate'>, SluiceError<SluiceErrorCode>> {
  return guardArguments('submit: the first argument', () => {
    const isBuilder = isObject(given) && typeof given.toJSON === 'function';
    requireArgument(
      isBuilder,
      'submit: the first argument must be the builder, not what its build() returns: a server reads the text of the pipeline',
    );
    const file = `${name}.json`;
    return ok({
      file,
      texts: new Map([[file, JSON.stringify((given.toJSON as () => unknown)())]]),
      locate: () => undefined,
    });
  });
}

/** The values as a command would give them: those that are no texts as JSON. */
function writeParams(params: Readonly<Record<string, Json>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, writeValue(value)]));
}

/** The environment in which commands find the given secrets, and no others of the environment. */
function withSecrets(secrets: Readonly<Record<string, string>> | undefined): NodeJS.ProcessEnv {
  if (secrets === undefined) return process.env;
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith(SECRET));
  const given = Object.entries(secrets).map(([name, value]) => [`${SECRET}${name}`, value]);
  return Object.fromEntries([...others, ...given]);
}
