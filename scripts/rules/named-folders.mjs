const PAGE = 'ARCHITECTURE.md';

/** The architecture page has a link to every folder of the sources: who adds one says there what it is for. */
export function check({ files }) {
  const page = files.find(({ path }) => path === PAGE);
  if (page === undefined) return [];
  const text = page.lines.join('\n');
  const folders = new Set(
    files.flatMap(
      ({ path }) => /^(packages\/[^/]+\/(?:src|native)\/.+)\/[^/]+\.(?:tsx?|[ch])$/.exec(path)?.slice(1) ?? [],
    ),
  );
  return [...folders]
    .filter((folder) => !text.includes(`](${folder})`))
    .map((folder) => ({ file: PAGE, line: 1, message: `has no link to the folder ${folder}` }));
}
