/** Folders of tests that are about a package as a whole. */
const SUITES = ['packages/runner/test/model', 'packages/runner/test/simulation', 'packages/service/test/chaos'];

/** The tests of a folder of `src` are found in the folder of `test` with the same path. */
export function check({ files }) {
  const folders = new Set(files.flatMap(({ path }) => foldersOf(path)));
  return files.flatMap(({ path }) => {
    const [, area, below] = /^(packages\/[^/]+)\/test\/(.+)\/[^/]+\.test\.ts$/.exec(path) ?? [];
    if (area === undefined || SUITES.includes(`${area}/test/${below}`)) return [];
    if (folders.has(`${area}/src/${below}`)) return [];
    return [{ file: path, line: 1, message: `there is no folder ${area}/src/${below} that this could test` }];
  });
}

function foldersOf(path) {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
