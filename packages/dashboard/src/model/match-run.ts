import type { RunEntry } from '@sluice/host';

type Searched = Pick<RunEntry, 'pipeline' | 'runId' | 'labels'>;

/** Whether each word of a search is part of the pipeline's name, the ID or a label (`NAME=VALUE`) of a run. */
export function matchRun({ pipeline, runId, labels = {} }: Searched, search: string): boolean {
  const texts = [pipeline, runId, ...labelWords(labels)].map((text) => text.toLowerCase());
  const words = search.toLowerCase().split(/\s+/);
  return words.every((word) => texts.some((text) => text.includes(word)));
}

/** Labels as they are searched. */
export function labelWords(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`);
}
