const MAX_LINES = 350;

/** A file is one idea; the one that needs more lines than this has two. */
export function check({ files }) {
  return files
    .filter(({ path, lines }) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) && lines.length > MAX_LINES)
    .map(({ path, lines }) => ({
      file: path,
      line: MAX_LINES + 1,
      message: `${lines.length} lines, at most ${MAX_LINES}`,
    }));
}
