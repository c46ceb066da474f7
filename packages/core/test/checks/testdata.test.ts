import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Diagnostic, parsePipeline, renderDiagnostic } from '../../src/index.ts';

/**
 * Adding a case means adding a file: `correct/NAME.yaml`, about which the checks report nothing, or `faulty/NAME.yaml` with
 * what they report in `faulty/NAME.txt`. UPDATE_TESTDATA=1 writes the latter; review what it has written.
 */
const DATA = new URL('testdata/', import.meta.url);

/** The names of the cases in a directory, without the extension. */
function listNames(directory: string, extension: string): readonly string[] {
  const files = readdirSync(new URL(directory, DATA)).filter((file) => file.endsWith(extension));
  return files.map((file) => file.slice(0, -extension.length)).sort();
}

/** Everything that the checks report about a case, as `sluice check` prints it. */
function report(directory: string, name: string): { readonly text: string; readonly found: readonly Diagnostic[] } {
  const text = readFileSync(new URL(`${directory}${name}.yaml`, DATA), 'utf8');
  const parsed = parsePipeline({ file: `${name}.yaml`, text });
  const found = parsed.ok ? parsed.value.warnings : parsed.error;
  return { text: found.map((diagnostic) => `${renderDiagnostic(diagnostic, { text })}\n`).join('\n'), found };
}

describe('faulty pipelines', () => {
  const names = listNames('faulty/', '.yaml');

  it.each(names)('%s', (name) => {
    const { text, found } = report('faulty/', name);
    const expected = new URL(`faulty/${name}.txt`, DATA);
    if (process.env.UPDATE_TESTDATA === '1') writeFileSync(expected, text);
    expect(text).toBe(readFileSync(expected, 'utf8'));
    expect(found).not.toEqual([]);
    expect(found.every(({ range }) => range?.file === `${name}.yaml`)).toBe(true);
  });

  it('have one expected output each', () => {
    expect(listNames('faulty/', '.txt')).toEqual(names);
    expect(names.length).toBeGreaterThan(190);
  });
});

describe('correct pipelines', () => {
  const names = listNames('correct/', '.yaml');

  it.each(names)('%s', (name) => {
    expect(report('correct/', name).text).toBe('');
  });

  it('are many', () => {
    expect(names.length).toBeGreaterThan(80);
  });
});
