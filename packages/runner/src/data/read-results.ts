import { isServiceError, type VolumeFiles } from '@sluice/client';
import { fail, isOfType, type Json, jsonFault, ok, type Result, type ResultSpec } from '@sluice/core';

/** Bytes that one result may have. */
const MAX_RESULT = 64 * 1024;

/** Reads and checks the values that a step left in its results directory. */
export async function readResults(
  files: VolumeFiles,
  options: { readonly directory: string; readonly results: Readonly<Record<string, ResultSpec>> },
): Promise<Result<Readonly<Record<string, Json>>, string>> {
  const values: Record<string, Json> = {};
  for (const [name, spec] of Object.entries(options.results)) {
    const text = await readSmallFile(files, `${options.directory}/${spec.file}`);
    if (!text.ok) return fail(`result ${name}: ${text.error}`);
    const value = parseResult(text.value, spec.type);
    if (!value.ok) return fail(`result ${name}: ${value.error}`);
    values[name] = value.value;
  }
  return ok(values);
}

async function readSmallFile(files: VolumeFiles, path: string): Promise<Result<string, string>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of await files.read(path, { start: 0, end: MAX_RESULT + 1 })) {
      chunks.push(chunk);
      size += chunk.length;
    }
  } catch (error) {
    if (!isServiceError(error, 'NOT_FOUND')) throw error;
    return fail(`the step did not write ${path.slice(path.lastIndexOf('/') + 1)}`);
  }
  if (size > MAX_RESULT) return fail(`it has more than ${MAX_RESULT} bytes; an output can hold more`);
  return ok(Buffer.concat(chunks).toString('utf8'));
}

/** The value of a result's text: a string is the text without its last line feed, everything else is JSON. */
function parseResult(text: string, type: ResultSpec['type']): Result<Json, string> {
  if (type === 'string') return ok(text.replace(/\r?\n$/, ''));
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return fail(`${JSON.stringify(text.slice(0, 80))} is not JSON, as type ${type} needs`);
  }
  const fault = jsonFault(value);
  if (fault !== undefined) return fail(`its value ${fault}`);
  if (isOfType(value, type)) return ok(value);
  return fail(`${JSON.stringify(value).slice(0, 80)} is not of type ${type}`);
}
