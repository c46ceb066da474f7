import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from '@sluice/core';
import type { CommandContext } from '../context/command-context.ts';
import { checkHome } from '../home/check-home.ts';
import { listProfiles } from '../home/find-profile.ts';
import { findHome } from '../home/home.ts';
import { listSchemas } from '../json/schema-files.ts';

/** What the shell can offer for a word, by its kind. The shell filters the values by prefix. */
export interface CompletionValues {
  runs(): readonly string[];
  /** Of the run that `-r` selects, else of the newest. */
  steps(): readonly string[];
  profiles(): readonly string[];
  schedules(): readonly string[];
  files(): readonly string[];
  schemas(): readonly string[];
}

/**
 * Lists values from the home and the directories of the user. `words` are those of the command line; the last is the one
 * to complete. What cannot be read is not offered.
 */
export function createCompletionValues(
  context: Pick<CommandContext, 'env' | 'cwd'>,
  words: readonly string[],
): CompletionValues {
  // Searched for and checked only for values that come from it.
  const home = () => findReadableHome(context, words);
  return {
    runs: () => listHomeEntries(home(), 'runs'),
    steps: () => listStepNames(home(), readOption(words, ['-r', '--run']) ?? ''),
    profiles: () => listProfiles(context.env),
    schedules: () => listHomeEntries(home(), 'schedules'),
    files: () => listPipelineFiles(context.cwd),
    schemas: () => listSchemas(),
  };
}

/** Possible pipeline files in the working directory and two levels below it. */
function listPipelineFiles(cwd: string): string[] {
  const found: string[] = [];
  const search = (directory: string, depth: number) => {
    for (const entry of readdirSync(join(cwd, directory), { withFileTypes: true })) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (entry.isDirectory() && depth > 0) search(join(directory, entry.name), depth - 1);
      else if (/\.(ya?ml|json)$/.test(entry.name)) found.push(join(directory, entry.name));
    }
  };
  try {
    search('', 2);
  } catch {
    // A directory that cannot be read has nothing to offer.
  }
  return found.sort();
}

/** The home that the command line or its place selects; undefined if it may not be used. */
function findReadableHome(
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
  words: readonly string[],
): string | undefined {
  const named = readOption(words, ['--home']);
  const options = named === undefined ? {} : { home: named };
  try {
    return checkHome({ env, cwd }, options).ok ? findHome({ env, cwd }, options) : undefined;
  } catch {
    return undefined;
  }
}

/** The value of an option, which precedes the word to complete. */
function readOption(words: readonly string[], names: readonly string[]): string | undefined {
  const index = words.findIndex((word) => names.includes(word));
  return index === -1 || index > words.length - 3 ? undefined : words[index + 1];
}

function listHomeEntries(home: string | undefined, directory: 'runs' | 'schedules'): readonly string[] {
  try {
    return home === undefined ? [] : readdirSync(join(home, directory)).sort();
  } catch {
    return [];
  }
}

/** Larger plans take longer to read than a user waits for a completion. */
const MAX_PLAN_BYTES = 4_000_000;

/** The steps of the newest run whose ID starts with `prefix`. */
function listStepNames(home: string | undefined, prefix: string): readonly string[] {
  let newest: { file: string; at: number } | undefined;
  for (const runId of listHomeEntries(home, 'runs')) {
    const file = join(home!, 'runs', runId, 'plan.json');
    const stats = runId.startsWith(prefix) ? statSync(file, { throwIfNoEntry: false }) : undefined;
    if (stats === undefined || stats.size > MAX_PLAN_BYTES || stats.mtimeMs <= (newest?.at ?? 0)) continue;
    newest = { file, at: stats.mtimeMs };
  }
  try {
    if (newest === undefined) return [];
    const { pipeline } = JSON.parse(readFileSync(newest.file, 'utf8')) as Plan;
    return [...pipeline.steps, ...pipeline.finally].map(({ name }) => name);
  } catch {
    return [];
  }
}
