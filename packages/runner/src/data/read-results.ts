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

/**
 * The most bytes of all results of one attempt: a list of 100,000 items of 300 bytes. They are held in memory and written
 * to the journal, so larger values belong in outputs.
 */
const MAX_RESULTS = 32 * 1024 * 1024;

/** Reads and checks the values that a step wrote to its results directory. */
export async function readResults(
  files: VolumeFiles,
  options: { readonly directory: string; readonly results: Readonly<Record<string, ResultSpec>> },
): Promise<Result<Readonly<Record<string, Json>>, string>> {
  const values: Record<string, Json> = {};
  let left = MAX_RESULTS;
  for (const [name, spec] of Object.entries(options.results)) {
    const bytes = await readSmallFile(files, { path: `${options.directory}/${spec.file}`, most: left });
    if (!bytes.ok) return fail(`result ${name}: ${bytes.error}`);
    left -= bytes.value.length;
    const value = parseResult(bytes.value.toString('utf8'), spec.type);
    if (!value.ok) return fail(`result ${name}: ${value.error}`);
    values[name] = value.value;
  }
  return ok(values);
}

async function readSmallFile(
  files: VolumeFiles,
  { path, most }: { readonly path: string; readonly most: number },
): Promise<Result<Buffer, string>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of await files.read(path, { start: 0, end: most + 1 })) {
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
      `could not read it: the results of one attempt may have ${MAX_RESULTS} bytes together (32 MiB); write larger data to an output`,
    );
  }
  return ok(Buffer.concat(chunks));
}

/** The value of a result's text: for type `string` the text without its last line feed, otherwise JSON. */
function parseResult(text: string, type: ResultSpec['type']): Result<Json, string> {
  if (type === 'string') return ok(text.replace(/\r?\n$/, ''));
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return fail(`${JSON.stringify(text.slice(0, 80))} is not JSON, as type ${type} needs`);
  }
  const large = findLargeInteger(text);
  if (large !== undefined) return fail(`its value cannot be used: ${describeLargeInteger(large)}`);
  const fault = jsonFault(value);
  if (fault !== undefined) return fail(`its value ${fault}`);
  if (isOfType(value, type)) return ok(value);
  return fail(`${JSON.stringify(value).slice(0, 80)} is not of type ${type}`);
}
