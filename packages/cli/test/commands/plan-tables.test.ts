import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

const DEBIAN = new URL('../../../../../shared/data/debian-graph/closure-kde-full.json.gz', import.meta.url);
let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-plan-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function plan(steps: object): Promise<string[]> {
  writeFileSync(join(cwd, 'p.json'), JSON.stringify({ version: 1, name: 'p', steps }));
  const context = createTestContext({ cwd, env: { SLUICE_HOME: join(cwd, 'home') } });
  expect(await runCommandLine(['plan', 'p.json'], context)).toBe(0);
  return context.terminal.written().out.split('\n');
}

function expectReadable(lines: readonly string[]): void {
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(160);
}

test('plan shows a fan-in of 10,000 in one line', async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `part-${at}`);
  const parts = Object.fromEntries(names.map((name) => [name, { command: ['true'] }]));
  const lines = await plan({ ...parts, all: { command: ['true'], needs: names } });
  expectReadable(lines);
  expect(lines.find((line) => line.includes(' all '))).toContain('part-0, part-1, part-2, part-3 and 9,996 more');
});

test('plan counts the items of a list in the file, and not those that only the run knows', async () => {
  const lines = await plan({
    make: { command: ['true'], results: { list: 'array' } },
    known: { command: ['true'], foreach: [1, 2, { a: '${{ steps.make.results.list }}' }] },
    keyed: { command: ['true'], foreach: { items: ['a', 'b'], key: '${{ item }}' } },
  });
  expect(lines.find((line) => line.includes(' known '))).toMatch(/ known +3 /);
  expect(lines.find((line) => line.includes(' keyed '))).toMatch(/ keyed +2 /);
  expect(lines.at(-2)).toContain('3 steps, 6 containers, on cluster');
  const open = await plan({
    make: { command: ['true'], results: { list: 'array' } },
    unknown: { command: ['true'], foreach: '${{ steps.make.results.list }}' },
  });
  expect(open.at(-2)).toContain('2 steps, 1 or more containers, on cluster');
});

test('plan shows 63,000 steps, of which each depends on several', async () => {
  const steps = Array.from({ length: 63_000 }, (_, at) => {
    const needs = [1, 7, 50, 300, 1000].filter((back) => back <= at).map((back) => `package-${at - back}`);
    return [`package-${at}`, { command: ['true'], needs }];
  });
  const lines = await plan(Object.fromEntries(steps));
  expectReadable(lines);
  expect(lines.length).toBeGreaterThan(63_000);
});

test.skipIf(!existsSync(DEBIAN) && process.env.CI !== 'true')(
  'plan shows the packages that one of Debian needs',
  async () => {
    const graph = JSON.parse(gunzipSync(readFileSync(DEBIAN)).toString('utf8')) as {
      nodes: [name: string, size: number, installed: number][];
      edges: [number, number][];
    };
    const nameOf = (at: number) => `${graph.nodes[at]![0].replace(/[^a-z0-9-]/g, '-')}-${at}`;
    const steps = graph.nodes.map((_, at) => {
      // Real packages depend on each other in circles: only edges forwards are taken.
      const needs = graph.edges.flatMap(([from, to]) => (from === at && to > at ? [nameOf(to)] : []));
      return [nameOf(at), { command: ['true'], needs: [...new Set(needs)] }];
    });
    const lines = await plan(Object.fromEntries(steps));
    expectReadable(lines);
    expect(lines.length).toBeGreaterThan(graph.nodes.length);
  },
);
