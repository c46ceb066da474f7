import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, type TestContext } from 'vitest';
import { CLAUSES, UNTESTED } from './clauses.ts';

/** `heading > key`, where a sentence's key is its number alone. */
type ClauseId = string;

const DOCUMENT = fileURLToPath(new URL('../../../shared/protocol.md', import.meta.url));
const tested = new Map<ClauseId, string[]>();

function allClauses(): ClauseId[] {
  const short = (key: string) => /^#\d+/.exec(key)?.[0] ?? key;
  return Object.entries(CLAUSES).flatMap(([heading, keys]) => keys.map((key) => `${heading} > ${short(key)}`));
}

const KNOWN = new Set(allClauses());

/** Registers a test that shows what `clauses` say; a clause may have several, a test several clauses. */
export function clause(clauses: readonly ClauseId[], name: string, run: (context: TestContext) => unknown): void {
  for (const id of clauses) {
    if (!KNOWN.has(id)) throw new Error(`There is no clause '${id}'`);
    tested.set(id, [...(tested.get(id) ?? []), name]);
  }
  it(`${name} [${clauses.join('; ')}]`, async (context) => {
    await run(context);
  });
}

/** Registers the tests of the walk itself: every clause has a test or a reason, and the document has no other clause. */
export function clauseCoverage(): void {
  it('clauses: each has a test, or a reason why there is none', () => {
    const without = allClauses().filter((id) => !tested.has(id));
    expect(without.sort()).toEqual(Object.keys(UNTESTED).sort());
  });

  it('clauses: are those of the document, in its order', ({ skip }) => {
    if (!existsSync(DOCUMENT)) {
      if (process.env.CI === 'true') throw new Error(`could not find the document ${DOCUMENT}`);
      return skip('the document is not beside the repository');
    }
    expect(allClauses()).toEqual(clausesOf(readFileSync(DOCUMENT, 'utf8')));
  });
}

/** The clauses of the document: table rows and all other lines below a heading. */
function clausesOf(document: string): ClauseId[] {
  const lines = document.split('\n');
  const found: ClauseId[] = [];
  let heading = '';
  let sentences = 0;
  let columns: string[] = [];
  for (const [index, line] of lines.entries()) {
    const title = /^##+ (.*)/.exec(line)?.[1];
    if (title !== undefined) {
      [heading, sentences] = [title, 0];
    } else if (isRule(line)) {
    } else if (line.startsWith('|')) {
      if (isRule(lines[index + 1] ?? '')) columns = cells(line);
      else found.push(`${heading} > ${rowKey(columns, cells(line))}`);
    } else if (line.trim() !== '' && heading !== '') {
      sentences += 1;
      found.push(`${heading} > #${sentences}`);
    }
  }
  return found;
}

const isRule = (line: string) => /^[|\s-]*-[|\s-]*$/.test(line) && line.startsWith('|');
const cells = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((it) => it.replaceAll('`', '').trim());

function rowKey(columns: readonly string[], row: readonly string[]): string {
  const [first = '', second = '', third = ''] = row;
  if (columns[0] === 'From') return `${first}: ${third === '' ? second : third}`;
  return columns[0] === '#' ? `${second} ${third}` : first;
}
