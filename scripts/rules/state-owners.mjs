const SCHEDULER = 'packages/run/src/scheduler/';
const STATE = `${SCHEDULER}state/run-state.ts`;
const CELLS = `${SCHEDULER}state/cell-table.ts`;

/**
 * In the scheduler, each part of the state is written by one module only. The comments `// Written by FILE.` in the interfaces
 * `RunState` and `CellTable` say by which; the two files that declare them create the state and may write all of it.
 */
export function check({ files }) {
  const owners = [
    ...readOwners(files, { path: STATE, name: 'RunState', holder: 'run' }),
    ...readOwners(files, { path: CELLS, name: 'CellTable', holder: 'cells' }),
  ];
  return files
    .filter(({ path }) => path.startsWith(SCHEDULER) && path.endsWith('.ts') && path !== STATE && path !== CELLS)
    .flatMap(({ path, lines }) =>
      lines.flatMap((text, index) =>
        owners
          .filter(({ owner, write }) => !path.endsWith(`/${owner}`) && write.test(text))
          .map(({ field, owner }) => ({
            file: path,
            line: index + 1,
            message: `writes ${field}, which only ${owner} may write`,
          })),
      ),
    );
}

function readOwners(files, { path, name, holder }) {
  const lines = files.find((file) => file.path === path)?.lines ?? [];
  const begin = lines.indexOf(`export interface ${name} {`);
  const end = lines.indexOf('}', begin);
  let owner = 'no module';
  return lines.slice(begin + 1, end).flatMap((text) => {
    const comment = /^ {2}\/\/ (.*)/.exec(text)?.[1];
    if (comment !== undefined) owner = /^Written by (\S+\.ts)\.$/.exec(comment)?.[1] ?? 'no module';
    const field = /^ {2}(?:readonly )?(\w+):/.exec(text)?.[1];
    return field === undefined ? [] : [{ field: `${holder}.${field}`, owner, write: writeOf(holder, field) }];
  });
}

/** Assignments, also to an element, and the methods that change an array, a set or a map. */
function writeOf(holder, field) {
  const target = String.raw`\b${holder}\.${field}(?:\[[^=]+?\]!?)?`;
  const assigned = String.raw`${target}\s*(?:(?:[-+*/|&^%]|\?\?|\|\|)?=(?![=>])|\+\+|--)`;
  const stepped = String.raw`(?:\+\+|--)${target}`;
  // The queue, the timers and the history are objects with methods of their own, called `add`, `push` and `pop` as well.
  const methods = /^(queue|timers|history)$/.test(field)
    ? 'fill'
    : 'push|pop|shift|splice|sort|fill|add|set|delete|clear';
  const changed = String.raw`\b${holder}\.${field}\.(?:(?:${methods})\(|length\s*=[^=])`;
  return new RegExp(`${assigned}|${stepped}|${changed}`);
}
