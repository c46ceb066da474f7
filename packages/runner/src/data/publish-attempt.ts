import { isServiceError, type VolumeFiles } from '@sluice/client';
import { fail, type Json, ok, type Result, type Step } from '@sluice/core';
import type { Clock } from '@sluice/home';
import { type AttemptName, attemptOutputPath, attemptPath, attemptResultsPath, publishedPath } from '@sluice/run';
import type { Redactor } from '../session/create-redactor.ts';
import type { Listed } from '../session/list-items.ts';
import type { HeldResults } from '../session/run-usage.ts';
import { findUnmatched } from './find-unmatched.ts';
import { readResults } from './read-results.ts';

type Results = Readonly<Record<string, Json>>;

/** What a cell lists with its results, or what is wrong with the list. */
export type ListOf = (results: Results) => Result<Listed, string>;

/** The results of a published attempt and what it lists, or a message about what is wrong with the files that it wrote. */
export type Published = Result<{ readonly results: Results; readonly listed: Listed }, string>;

/**
 * Reads an attempt's results and moves its outputs to their published places, one rename each. Idempotent: after a crash,
 * outputs that were already moved are recognized. Throws `ServiceError` if the volume does not answer.
 */
export async function publishAttempt(
  files: VolumeFiles,
  options: {
    readonly name: AttemptName;
    /** The path of the cell below the directory of all cells. */
    readonly place: string;
    readonly step: Step;
    readonly redactor: Pick<Redactor, 'findSecret' | 'text'>;
    readonly defer: Clock['defer'];
    /** Counts the results. The caller releases them if nothing was published. */
    readonly held: HeldResults;
    readonly list: ListOf;
  },
): Promise<Published> {
  const { name, place, step, redactor, defer, held, list } = options;
  const directory = attemptPath(name);
  const results = await readResults(files, {
    directory: attemptResultsPath(directory),
    results: step.results,
    redact: redactor.text,
    held,
  });
  if (!results.ok) return results;
  for (const [result, value] of Object.entries(results.value)) {
    const secret = redactor.findSecret(value);
    if (secret !== undefined) return fail(describeSecret(result, secret));
  }
  // Before the outputs are moved: a retry moves its own to the same place.
  const listed = list(results.value);
  if (!listed.ok) return listed;
  const locate = (output: string) => attemptOutputPath(directory, output);
  const unmatched = await findUnmatched(files, { outputs: step.outputs, locate, defer });
  if (unmatched !== undefined) return fail(unmatched);
  for (const output of Object.keys(step.outputs)) {
    const to = publishedPath({ runId: name.runId, step: step.name, output, cell: place });
    const moved = await moveOnce(files, locate(output), to);
    if (!moved.ok) return fail(`output ${output}: ${moved.error}`);
  }
  return ok({ results: results.value, listed: listed.value });
}

function describeSecret(result: string, secret: string): string {
  return `result ${result} contains the value of the secret ${secret}, and results are written to the journal; leave it out of the result, or give the secret a value that no result contains`;
}

async function moveOnce(files: VolumeFiles, from: string, to: string): Promise<Result<void, string>> {
  try {
    await files.move(from, to);
    return ok(undefined);
  } catch (error) {
    if (!isServiceError(error, 'NOT_FOUND', 'ALREADY_EXISTS')) throw error;
    const [source, target] = [await files.stat(from), await files.stat(to)];
    if (!source && target) return ok(undefined);
    if (!source) return fail(`${from} is no longer in the volume`);
    return fail(`both ${from} and ${to} exist`);
  }
}
