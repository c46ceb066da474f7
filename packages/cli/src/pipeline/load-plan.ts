import { dirname, relative, resolve } from 'node:path';
import {
  type AxisFiles,
  type CheckedPipeline,
  createPlan,
  type Diagnostic,
  fail,
  ok,
  type Pipeline,
  type Plan,
  parsePipeline,
  type Result,
  type SourceRange,
} from '@sluice/core';
import type { CommandContext } from '../context/command-context.ts';
import { hasFiles } from './has-files.ts';
import { ignoreImagesOf } from './ignore-images.ts';
import { openPipelineFiles } from './pipeline-files.ts';
import { type ParamOptions, type RejectedParams, readGivenParams } from './read-given-params.ts';

/** A pipeline file that was read, checked and planned. */
export interface LoadedPlan {
  readonly plan: Plan;
  /** Absolute directory of the file; relative paths in it start there. */
  readonly baseDir: string;
  readonly warnings: readonly Diagnostic[];
  readonly texts: SourceTexts;
  /** The name of the pipeline file among the texts. */
  readonly file: string;
  /** The values of parameters that were given for this run, as texts. */
  readonly given: Readonly<Record<string, string>>;
  /** The position of a value in the file, by its keys from the root. */
  readonly locate: (path: readonly string[]) => SourceRange | undefined;
  /** The files that are items of axes: the planner of a server does not read the sources. */
  readonly files: AxisFiles;
}

/** The texts of the files that diagnostics refer to, by the name in the diagnostic. */
export type SourceTexts = ReadonlyMap<string, string>;

/** Why a file has no plan: all its errors and warnings, in file order. */
export interface RejectedFile {
  readonly diagnostics: readonly Diagnostic[];
  readonly texts: SourceTexts;
  /** Set if the file has no errors, but cannot be planned with these parameters. */
  readonly pipeline?: Pipeline;
  readonly given?: LoadedPlan['given'];
}

/** The options of every command that reads a pipeline file. */
export interface PipelineFileOptions extends ParamOptions {
  /** Labels beside those of the file; only commands that start runs have them. */
  readonly label?: Readonly<Record<string, string>>;
  /** Only files below this directory may be included or used. */
  readonly root?: string;
  /** Run steps with an image with this machine's programs. */
  readonly ignoreImages?: boolean;
}

/** Reads, checks and plans a pipeline file and the files that it includes. Starts nothing. */
export async function loadPlan(
  file: string,
  { context: { cwd }, options }: { context: Pick<CommandContext, 'cwd'>; options: PipelineFileOptions },
): Promise<Result<LoadedPlan, RejectedFile>> {
  const path = resolve(cwd, file);
  const texts = new Map<string, string>();
  const project = openPipelineFiles(path, { cwd, root: options.root });
  const text = project.readMain();
  const name = relative(cwd, path) || path;
  if (!text.ok) {
    const message = `could not read ${path}: ${text.error}`;
    return fail({ diagnostics: [{ code: 'unreadable-file', severity: 'error', message }], texts });
  }
  texts.set(name, text.value);
  const read = (other: string): Result<string, string> => {
    const result = project.readOther(other);
    if (result.ok) texts.set(other, result.value);
    return result;
  };
  const parsed = parsePipeline({ text: text.value, file: name, read });
  if (!parsed.ok) return fail({ diagnostics: parsed.error, texts });
  const { schedule } = parsed.value.pipeline;
  const fault = schedule && (await import('./find-schedule-fault.ts')).findScheduleFault(schedule);
  if (fault !== undefined) return fail({ diagnostics: [...parsed.value.warnings, fault], texts });
  const given = readGivenParams(parsed.value.pipeline, { cwd, options });
  if (!given.ok) return fail(rejectParams(given.error, { parsed: parsed.value, texts }));
  const listed = hasFiles(parsed.value.pipeline)
    ? await (await import('./list-files-of.ts')).listFilesOf(parsed.value.pipeline, dirname(path))
    : { files: {}, diagnostics: [] };
  if (listed.diagnostics.some(({ severity }) => severity === 'error'))
    return fail({ diagnostics: [...parsed.value.warnings, ...listed.diagnostics], texts });
  const planned = createPlan(parsed.value.pipeline, {
    params: given.value,
    files: listed.files,
    ...(options.label && { labels: options.label }),
  });
  if (!planned.ok) {
    const { pipeline, warnings } = parsed.value;
    return fail({ diagnostics: [...warnings, ...planned.error], texts, pipeline, given: given.value });
  }
  const { plan, diagnostics } =
    options.ignoreImages === true ? ignoreImagesOf(planned.value) : { plan: planned.value, diagnostics: [] };
  const warnings = [...parsed.value.warnings, ...listed.diagnostics, ...diagnostics];
  if (diagnostics.some(({ severity }) => severity === 'error')) return fail({ diagnostics: warnings, texts });
  const { locate } = parsed.value;
  const { files } = listed;
  return ok({ plan, baseDir: dirname(path), warnings, texts, file: name, given: given.value, locate, files });
}

/** The texts of a plan are sent to a server with its order; those of the files of parameters are not among them. */
function rejectParams(
  rejected: RejectedParams,
  { parsed, texts }: { readonly parsed: CheckedPipeline; readonly texts: SourceTexts },
): RejectedFile {
  return {
    diagnostics: [...parsed.warnings, ...rejected.diagnostics],
    texts: new Map([...texts, ...rejected.texts]),
    pipeline: parsed.pipeline,
  };
}
