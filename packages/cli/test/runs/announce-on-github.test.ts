import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FailureReport, RunReport } from '@sluice/run';
import { afterAll, expect, test } from 'vitest';
import { showEnd } from '../../src/runs/show-end.ts';
import { createTestContext } from '../recording-terminal.ts';

const cwd = mkdtempSync(join(tmpdir(), 'sluice-github-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const FILE = `version: 1
name: digits
steps:
  prepare: { command: ['true'] }
  fit:
    command: ['false']
finally:
  clean: { command: ['false'] }
`;

const failure = { attempt: 2, status: 'failed', reason: 'failed' } as const;
const failures: readonly FailureReport[] = [
  {
    ...{ step: 'fit', cell: 'a', ...failure, message: 'exit code 3', hint: 'read the log' },
    logTail: ['::error::not ours', '##[add-mask]x', '100 % | `done` ```'],
  },
  { step: 'fit', cell: 'b', ...failure, message: 'exit code 4', logTail: [] },
  { step: 'clean', cell: '', ...failure, message: 'exit code 1', logTail: [] },
];

function report(more: Partial<RunReport>): RunReport {
  const failed = { attempt: 2, status: 'failed', reason: 'failed', results: {} } as const;
  return {
    ...{ runId: 'r1', pipeline: 'digits', status: 'failed', createdAt: 0, startedAt: 0, endedAt: 2_500 },
    ...{ clusterId: 'local', accountId: 'local', outputs: {}, failures },
    steps: [
      {
        step: 'prepare',
        status: 'succeeded',
        cells: [{ cell: '', status: 'succeeded', attempt: 1, results: {}, beganAt: 0, endedAt: 1_400 }],
      },
      {
        step: 'fit',
        status: 'failed',
        reason: 'failed',
        cells: [
          { ...failed, cell: 'a', message: 'exit code 3' },
          { ...failed, cell: 'b', message: 'exit code 4' },
        ],
      },
      { step: 'clean', status: 'failed', reason: 'failed', cells: [{ ...failed, cell: '', message: 'exit code 1' }] },
    ],
    order: { file: join(cwd, 'pipeline.yaml'), params: {} },
    ...more,
  };
}

async function end(given: RunReport, { env = {}, options = {} }: { env?: NodeJS.ProcessEnv; options?: object } = {}) {
  const context = createTestContext({ cwd, env: { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: cwd, ...env } });
  const progress = { report: () => {}, print: () => {}, close: () => {} };
  await showEnd(given, { context, progress, options });
  return context.terminal.written();
}

test('showEnd folds logs on GitHub Actions and annotates failed steps where their file defines them', async () => {
  writeFileSync(join(cwd, 'pipeline.yaml'), FILE);
  const { out, err } = await end(report({}));
  const [token] = /(?<=::stop-commands::)\S+/.exec(out) ?? [];
  expect(out).toContain(
    [
      '::group::fit/a attempt 2: exit code 3',
      `::stop-commands::${token}`,
      '  │ ::error::not ours',
      '  │ ##[add-mask]x',
      '  │ 100 % | `done` ```',
      '  hint: read the log',
      `::${token}::`,
      '::endgroup::',
      '',
    ].join('\n'),
  );
  expect(out.split('\n').filter((line) => /^::(error|warning) /.test(line))).toEqual([
    '::error file=pipeline.yaml,line=5,col=3,title=step fit failed::fit/a: exit code 3; 2 of 2 cells failed%0Ahint: read the log%0A::error::not ours%0A##[add-mask]x%0A100 %25 | `done` ```',
    '::error file=pipeline.yaml,line=8,col=3,title=step clean failed::clean: exit code 1',
  ]);
  expect(err).toBe('');
});

test('showEnd warns of failed steps in a run that has succeeded, and knows no position without a file', async () => {
  writeFileSync(join(cwd, 'pipeline.yaml'), 'version: 1\n');
  const { order, ...unrecorded } = report({});
  for (const given of [report({ status: 'succeeded' }), { ...unrecorded, status: 'succeeded' } as const]) {
    const { out } = await end(given);
    expect(out).toContain('::warning title=step clean failed::clean: exit code 1\n');
  }
});

test('showEnd adds the run to the summary of the job', async () => {
  const file = join(cwd, 'summary.md');
  writeFileSync(file, '# Job\n\n');
  await end(report({ message: 'a <b> failed' }), { env: { GITHUB_STEP_SUMMARY: file } });
  expect(readFileSync(file, 'utf8')).toBe(`# Job

### digits failed in 2.5 s

a \\<b\\> failed

| STEP | STATUS | TOOK | ATTEMPTS | WHY |
| --- | --- | --- | --- | --- |
| prepare | succeeded | 1.4 s | 1 |  |
| fit | 2 failed | - | 4 | exit code 3 |
| clean | failed | - | 2 | exit code 1 |

**fit/a** attempt 2: exit code 3

read the log

\`\`\`\`text
::error::not ours
##[add-mask]x
100 % | \`done\` \`\`\`
\`\`\`\`

**fit/b** attempt 2: exit code 4

**clean** attempt 2: exit code 1

Run \`r1\`

`);
});

test('showEnd goes on if the summary cannot be written', async () => {
  const { err } = await end(report({ status: 'succeeded' }), { env: { GITHUB_STEP_SUMMARY: join(cwd, 'no/summary') } });
  expect(err).toContain('warning: could not write the summary of the job: ENOENT');
});

test.each([
  ['with --json', { options: { json: true } }],
  ['elsewhere', { env: { GITHUB_ACTIONS: 'false' } }],
])('showEnd prints no commands %s', async (_, given) => {
  const file = join(cwd, 'unwritten.md');
  const { out } = await end(report({}), { env: { GITHUB_STEP_SUMMARY: file }, ...given });
  expect(out).not.toMatch(/^::/m);
});
