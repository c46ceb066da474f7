import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Pipeline } from '@sluice/core';
import { listRuns, listSchedules, readRunOrder } from '@sluice/home';
import type { PipelineEntry } from '@sluice/host';
import { loadPlan } from '../pipeline/load-plan.ts';

const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);
/** More than a person would look through. */
const MAX_FILES = 100;
const EARLIER_RUNS = 20;
const MAX_BYTES = 1_000_000;

/**
 * The pipeline files beside a home, in name order, and those of its newest runs and its schedules. A file that only looks
 * like a pipeline is listed with its first error; other files are omitted.
 */
export async function listPipelines(home: string): Promise<readonly PipelineEntry[]> {
  const project = dirname(home);
  const isProject = basename(home) === '.sluice';
  const beside = isProject ? (await readdir(project).catch(() => [])).sort().map((name) => join(project, name)) : [];
  const files = [...new Set([...beside, ...(await listUsedFiles(home))])].filter((file) =>
    EXTENSIONS.has(extname(file)),
  );
  const entries: PipelineEntry[] = [];
  for (const file of files) {
    if (entries.length >= MAX_FILES) break;
    const entry = await describeFile(file, project);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** The pipeline files of the schedules and of the newest runs of a home. */
export async function listUsedFiles(home: string): Promise<string[]> {
  const files = (await listSchedules({ home })).flatMap(({ file }) => (file === undefined ? [] : [file]));
  for (const { runId } of (await listRuns(home)).slice(0, EARLIER_RUNS)) {
    const order = await readRunOrder(home, runId);
    if (order !== undefined) files.push(order.file);
  }
  return files;
}

async function describeFile(file: string, cwd: string): Promise<PipelineEntry | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  // A cheap look first: most JSON and YAML files of a project are something else.
  if (text === undefined || text.length > MAX_BYTES || !/version/.test(text) || !/steps/.test(text)) return undefined;
  const loaded = await loadPlan(file, { context: { cwd }, options: {} });
  if (loaded.ok) return { file, ...describePipeline(loaded.value.plan.pipeline) };
  const { diagnostics, pipeline } = loaded.error;
  // The values of parameters are missing, which a person can give.
  if (pipeline !== undefined) return { file, ...describePipeline(pipeline) };
  const first = diagnostics.find(({ severity }) => severity === 'error');
  return { file, message: first?.message ?? 'it has errors', params: [] };
}

function describePipeline({ name, description, params }: Pipeline): Omit<PipelineEntry, 'file'> {
  return {
    pipeline: name,
    ...(description !== undefined && { description }),
    params: Object.entries(params).map(
      ([param, { type, required, default: value, enum: values, description: text }]) => ({
        ...{ name: param, type, required },
        ...(value !== undefined && { default: value }),
        ...(values !== undefined && { enum: [...values] }),
        ...(text !== undefined && { description: text }),
      }),
    ),
  };
}
