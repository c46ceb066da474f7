import type { Diagnostic } from '@sluice/core';
import { expect, test } from 'vitest';
import { printDiagnostics } from '../../src/pipeline/print-diagnostics.ts';
import { createTestContext } from '../recording-terminal.ts';

const range = { file: 'pipelines/a.yaml', line: 3, column: 5, endLine: 3, endColumn: 8 };
const found: readonly Diagnostic[] = [
  { code: 'unknown-key', severity: 'error', message: 'unknown key `comand`', hint: 'did you mean `command`?', range },
  { code: 'unused', severity: 'warning', message: 'unused' },
];

function print(env: NodeJS.ProcessEnv, options = {}) {
  const context = createTestContext({ cwd: '/project/repo/sub', env });
  printDiagnostics(found, new Map(), { context, options });
  return context.terminal.written();
}

const TEXT = [
  'pipelines/a.yaml:3:5: error: unknown key `comand` [unknown-key]\n  hint: did you mean `command`?\n\n',
  'warning: unused [unused]\n\n',
];

test('printDiagnostics prints text to stderr', () => {
  expect(print({})).toEqual({ out: '', err: TEXT.join('') });
});

test('printDiagnostics annotates files on GitHub Actions, by their path in the repository', () => {
  const { out, err } = print({ GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: '/project/repo' });
  expect(out).toBe('');
  expect(err).toBe(
    `${TEXT[0]}::error file=sub/pipelines/a.yaml,line=3,endLine=3,col=5,endColumn=8,title=unknown-key::unknown key \`comand\`; did you mean \`command\`?\n${TEXT[1]}::warning title=unused::unused\n`,
  );
});

test('printDiagnostics names a file outside of the repository by its absolute path', () => {
  expect(print({ GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: '/other' }).err).toContain(
    '::error file=/project/repo/sub/pipelines/a.yaml,line=3',
  );
});

test('printDiagnostics annotates nothing with --json', () => {
  const { out, err } = print({ GITHUB_ACTIONS: 'true' }, { json: true });
  expect(err).toBe('');
  expect(
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).type),
  ).toEqual(['diagnostic', 'diagnostic']);
});
