const MAX_LINES = 350;
/** The first words of a file that a script writes, which has as many lines as what it is written from. */
const WRITTEN = /^\/\/ Written by scripts\//;

/** A file is one idea; the one that needs more lines than this has two. */
export function check({ files }) {
  return files
    .filter(({ path, lines }) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) && lines.length > MAX_LINES)
    .filter(({ lines }) => !WRITTEN.test(lines[0]))
    .map(({ path, lines }) => ({
      file: path,
      line: MAX_LINES + 1,
      message: `${lines.length} lines, at most ${MAX_LINES}`,
    }));
}
