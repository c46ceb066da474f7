/**
 * The directory whose claim is held by the process that adds a run to its concurrency group, until the claim of the run
 * itself is held.
 */
export function enteringDirectory(directory: string): string {
  return `${directory}/entering`;
}
