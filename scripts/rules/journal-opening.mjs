const JOURNAL = 'packages/home/src/journal/';
/** Each with the file that declares it. */
const OPENING = { createJournal: 'journal.ts', acquireLease: 'lease.ts' };
const CALLER = `${JOURNAL}open-journal.ts`;

/**
 * Who executes or changes a recorded run calls `openJournal`, which checks all marks of the run. Without a lease and a
 * writable journal, no other function can do that.
 */
export function check({ files }) {
  return files
    .filter(({ path }) => /^packages\/(home|runner|host|cli)\/src\/.*\.ts$/.test(path) && path !== CALLER)
    .flatMap(({ path, lines }) => {
      const text = lines.join('\n');
      return Object.entries(OPENING)
        .filter(([name, owner]) => path !== JOURNAL + owner && isImported(text, { name, owner }))
        .map(([name]) => ({
          file: path,
          line: 1,
          message: `uses ${name}: open the run with \`openJournal\`, which checks its marks`,
        }));
    });
}

function isImported(text, { name, owner }) {
  const imports = text.matchAll(/(?:import|export)\s*\{([^}]*)\}\s*from\s*'([^']+)'/g);
  return [...imports].some(([, names, from]) => {
    const isOwner = from.endsWith(`/${owner}`) || from === '@sluice/home';
    return isOwner && new RegExp(`\\b${name}\\b`).test(names);
  });
}
