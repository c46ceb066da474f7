/**
 * Why a file of a run with another format than `known` cannot be read, as the end of a sentence; undefined if it has that
 * format.
 */
export function describeOtherFormat(format: number, known: number): string | undefined {
  if (format > known) {
    return `it was written by a newer version of sluice (format ${format}, and this one knows ${known})`;
  }
  if (format < known) {
    return `it was written by an earlier version of sluice (format ${format}, and this one reads only ${known}); use that version for the run, or remove its directory`;
  }
  return undefined;
}
