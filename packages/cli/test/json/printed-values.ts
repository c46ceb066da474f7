import { z } from 'zod';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { JSON_VALUES, type JsonType } from '../../src/json/json-values.ts';
import { createTestContext, type TestContext } from '../recording-terminal.ts';

/** The schema of a printed value, with `schema` and `type`. */
export function schemaOf(type: JsonType) {
  const header = { schema: z.literal(1), type: z.literal(type) };
  return z.strictObject({ ...header, ...JSON_VALUES[type].shape }).describe(JSON_VALUES[type].description ?? '');
}

/** How a command has ended, and what it has printed. */
export interface Printed {
  readonly exitCode: number;
  readonly values: readonly Record<string, unknown>[];
  readonly stderr: string;
}

/** Runs commands of a user whose only directory is `cwd`, and checks all that they print against the schemas. */
export function createPrinter(cwd: string) {
  /** The types of all values so far. */
  const seen = new Set<JsonType>();

  const createContext = (env: NodeJS.ProcessEnv = {}) =>
    createTestContext({ cwd, env: { HOME: cwd, PATH: process.env.PATH, ...env } });

  const check = (context: TestContext): readonly Record<string, unknown>[] => {
    const values = readValues(context.terminal.written().out);
    for (const value of values) {
      const type = value.type as JsonType;
      if (!Object.hasOwn(JSON_VALUES, type)) throw new Error(`no schema of ${JSON.stringify(value)}`);
      schemaOf(type).parse(value);
      seen.add(type);
    }
    return values;
  };

  /** Runs a command to its end, with `--json`. */
  const print = async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Printed> => {
    const context = createContext(env);
    const exitCode = await runCommandLine([...args, '--json'], context);
    return { exitCode, values: check(context), stderr: context.terminal.written().err };
  };

  return { print, check, createContext, seen };
}

/** One value per line; a value that is printed in blocks, over several lines, is the only one. */
function readValues(out: string): readonly Record<string, unknown>[] {
  if (out.startsWith('{\n')) return [JSON.parse(out) as Record<string, unknown>];
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
