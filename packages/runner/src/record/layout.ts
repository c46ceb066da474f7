/**
 * Where things lie in a workspace volume. Attempts write into directories of their own, so that a
 * half-written output can never be read; `work` keeps those apart from the published ones, whatever a step is called.
 */

/** Directory of one attempt. */
export function attemptPath(name: { runId: string; step: string; cell: string; attempt: number }): string {
  return `runs/${name.runId}/work/${join(name.step, name.cell)}/a${name.attempt}`;
}

/** Where an attempt writes an output. */
export function attemptOutputPath(attempt: string, output: string): string {
  return `${attempt}/${output}`;
}

/** Where an attempt writes its results; no output can have this name. */
export function attemptResultsPath(attempt: string): string {
  return `${attempt}/_results`;
}

/** Where an attempt of a service leaves the sign that it is ready; no output can have this name. */
export function attemptReadyPath(attempt: string): string {
  return `${attempt}/_ready`;
}

/** Private copies of what the attempts of a run write to: nothing in it is needed once the run is over. */
export function privateCopiesPath(runId: string): string {
  return `runs/${runId}/private`;
}

/** The private copies of one attempt, or with `input` one of them. */
export function privateCopyPath(
  name: { runId: string; step: string; cell: string; attempt: number },
  input?: string,
): string {
  return join(`${join(`${privateCopiesPath(name.runId)}/${name.step}`, name.cell)}/a${name.attempt}`, input ?? '');
}

/** Published place of an output: of all cells together, or with `cell` of that one. */
export function publishedPath(of: { runId: string; step: string; output: string; cell?: string }): string {
  return join(`runs/${of.runId}/out/${of.step}/${of.output}`, of.cell ?? '');
}

/** Name of the list of a step's cells beside their outputs; no cell can have it. */
export const MANIFEST = 'manifest.json';

/** The list of a step's cells beside their published outputs. */
export function manifestPath(of: { runId: string; step: string; output: string }): string {
  return `${publishedPath(of)}/${MANIFEST}`;
}

/** An uploaded source: its files, the mark that only verified files are put there, and the mark that all of them are there. */
export function sourcePath(digest: string): { files: string; begun: string; mark: string } {
  const directory = `sources/${digest}`;
  return { files: `${directory}/files`, begun: `${directory}/begun.json`, mark: `${directory}/complete.json` };
}

/** The directories of uploaded sources, and where one is put before it is removed. */
export const SOURCES = 'sources';
export const TRASH = 'trash';

/** Everything that a run has in its workspace. */
export function runPath(runId: string): string {
  return `runs/${runId}`;
}

/** A named volume of the pipeline's own that is kept between runs. */
export function ownVolumePath(name: string): string {
  return `volumes/${name}`;
}

/** A named volume of one run alone, which goes with the run's other data (`retain: false`). */
export function runVolumePath(runId: string, name: string): string {
  return `${runPath(runId)}/volumes/${name}`;
}

function join(path: string, more: string): string {
  return more === '' ? path : `${path}/${more}`;
}
