import { isUtf8 } from 'node:buffer';
import { isServiceError, type VolumeFiles } from '@sluice/client';
import {
  describeLargeInteger,
  fail,
  findLargeInteger,
  isOfType,
  type Json,
  jsonFault,
  ok,
  type Result,
  type ResultSpec,
} from '@sluice/core';
import type { HeldResults } from '../session/run-usage.ts';

/**
 * The most bytes of all results of one attempt: a list of 100,000 items of 300 bytes. They are held in memory and written
 * to the journal, so larger values belong in outputs.
 */
const MAX_RESULTS = 32 * 1024 * 1024;
const ADVICE = 'write larger data to an output';
/** Characters of a wrong result in a message. */
const MAX_SHOWN = 80;

/** Reads and checks the values that a step wrote to its results directory. */
export async function readResults(
  files: VolumeFiles,
  options: {
    readonly directory: string;
    readonly results: Readonly<Record<string, ResultSpec>>;
    /** Hides secrets in what messages show of a result. */
    readonly redact: (text: string) => string;
    /** Counts the bytes. The caller releases them if the results are not kept. */
    readonly held: HeldResults;
  },
): Promise<Result<Readonly<Record<string, Json>>, string>> {
  const values: Record<string, Json> = {};
  let left = MAX_RESULTS;
  for (const [name, spec] of Object.entries(options.results)) {
    const bytes = await readSmallFile(files, {
      path: `${options.directory}/${spec.file}`,
      ...{ most: left, held: options.held },
    });
    if (!bytes.ok) return fail(`result ${name}: ${bytes.error}`);
    left -= bytes.value.length;
    const text = decode(bytes.value);
    if (text === undefined) {
      return fail(
        `result ${name}: its ${bytes.value.length} bytes are not text in UTF-8; write other data to an output`,
      );
    }
    const value = parseResult(text, { type: spec.type, redact: options.redact });
    if (!value.ok) return fail(`result ${name}: ${value.error}`);
    values[name] = value.value;
  }
  return ok(values);
}

async function readSmallFile(
  files: VolumeFiles,
  { path, most, held }: { readonly path: string; readonly most: number; readonly held: HeldResults },
): Promise<Result<Buffer, string>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of await files.read(path, { start: 0, end: most + 1 })) {
      const excess = held.take(chunk.length);
      if (excess !== undefined) return fail(`could not read it: ${excess}; ${ADVICE}`);
      chunks.push(chunk);
      size += chunk.length;
      // A service may ignore the range.
      if (size > most) break;
    }
  } catch (error) {
    if (!isServiceError(error, 'NOT_FOUND')) throw error;
    const file = path.slice(path.lastIndexOf('/') + 1);
    return fail(`the step did not write /sluice/results/${file}`);
  }
  if (size > most) {
    return fail(
      `could not read it: the results of one attempt may have ${MAX_RESULTS} bytes together (32 MiB); ${ADVICE}`,
    );
  }
  return ok(Buffer.concat(chunks));
}

/** Undefined for bytes that are not UTF-8, which a lenient decoder would replace. */
function decode(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** The value of a result's text: for type `string` the text without its last line feed, otherwise JSON. */
function parseResult(
  text: string,
  { type, redact }: { readonly type: ResultSpec['type']; readonly redact: (text: string) => string },
): Result<Json, string> {
  if (type === 'string') return ok(text.replace(/\r?\n$/, ''));
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return fail(`${JSON.stringify(redact(text).slice(0, MAX_SHOWN))} is not JSON, as type ${type} needs`);
  }
  const large = findLargeInteger(text);
  if (large !== undefined) return fail(`its value cannot be used: ${describeLargeInteger(large)}`);
  const fault = jsonFault(value);
  if (fault !== undefined) return fail(`its value ${fault}`);
  if (isOfType(value, type)) return ok(value);
  return fail(`${redact(JSON.stringify(value)).slice(0, MAX_SHOWN)} is not of type ${type}`);
}
