/**
 * The layout of a workspace volume. Each attempt writes to its own directory, so that an incomplete output can never be
 * read. These directories are in `work`, separate from the published outputs, so that no step name can collide.
 */

/** Directory of one attempt. */
export function attemptPath(name: { runId: string; step: string; cell: string; attempt: number }): string {
  return `runs/${name.runId}/work/${join(name.step, cellDirectory(name.cell))}/a${name.attempt}`;
}

/** The directory of a cell by its name: the keys of several axes are nested, because engines separate mounts by commas. */
export function cellDirectory(cell: string): string {
  return cell.replaceAll(',', '/');
}

/** The directory in which an attempt writes an output. */
export function attemptOutputPath(attempt: string, output: string): string {
  return `${attempt}/${output}`;
}

/** The directory in which an attempt writes its results; no output can have this name. */
export function attemptResultsPath(attempt: string): string {
  return `${attempt}/_results`;
}

/** The directory in which an attempt of a service signals that it is ready; no output can have this name. */
export function attemptReadyPath(attempt: string): string {
  return `${attempt}/_ready`;
}

/** Private copies of the inputs that a run's attempts write to. They are not needed after the end of the run. */
export function privateCopiesPath(runId: string): string {
  return `runs/${runId}/private`;
}

/** The private copies of one attempt, or the copy of one input. */
export function privateCopyPath(
  name: { runId: string; step: string; cell: string; attempt: number },
  input?: string,
): string {
  return join(
    `${join(`${privateCopiesPath(name.runId)}/${name.step}`, cellDirectory(name.cell))}/a${name.attempt}`,
    input ?? '',
  );
}

/** The published directory of an output: of all cells, or of one cell or group of cells by its path (`cellPath`). */
export function publishedPath(of: { runId: string; step: string; output: string; cell?: string }): string {
  return join(`runs/${of.runId}/out/${of.step}/${of.output}`, of.cell ?? '');
}

/**
 * The directory to which a process that executes a run moves temporary outputs before it deletes them, so that each disappears
 * atomically.
 */
export function removedPath({ runId, epoch }: { readonly runId: string; readonly epoch: number }): string {
  return `runs/${runId}/removed/${epoch}`;
}

/** The directory of an input whose cells are in no common directory: it has their manifest, and they are mounted in it. */
export function gatheredPath(of: { runId: string; step: string; cell: string; input: string }): string {
  return `${join(`runs/${of.runId}/in/${of.step}`, cellDirectory(of.cell))}/_${of.input}`;
}

/** The name of the file next to the outputs of several cells that lists them; no cell can have this key. */
export const MANIFEST = 'manifest.json';

/** An uploaded source: its files, and the mark that it is complete. */
export function sourcePath(digest: string): { files: string; mark: string } {
  const directory = `sources/${digest}`;
  return { files: `${directory}/files`, mark: `${directory}/complete.json` };
}

/** The directory of all uploaded sources. */
export const SOURCES = 'sources';
/** The directory to which a source is moved before it is deleted, so that it disappears atomically. */
export const TRASH = 'trash';

/** All data of a run in its workspace. */
export function runPath(runId: string): string {
  return `runs/${runId}`;
}

/** A named volume of the pipeline's own that is kept between runs. */
export function ownVolumePath(name: string): string {
  return `volumes/${name}`;
}

/** A named volume of one run, which is removed with the run's other data (`retain: false`). */
export function runVolumePath(runId: string, name: string): string {
  return `${runPath(runId)}/volumes/${name}`;
}

function join(path: string, more: string): string {
  return more === '' ? path : `${path}/${more}`;
}
