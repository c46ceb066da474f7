import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { findCycles } from '../../src/graph/find-cycles.ts';
import { createStepGraph } from '../../src/graph/step-graph.ts';
import { createPlan, parsePipeline, planLevels } from '../../src/index.ts';
import { readDocument } from '../../src/parse/read-document.ts';
import { DATA, itWithData, readGzip, unpack } from '../data.ts';

/** Rejections that are ours and not the language's: the file is YAML, but no pipeline could be in it. */
const OURS = new Set([
  'unknown-tag',
  'several-documents',
  'bad-key',
  'alias',
  'bad-merge',
  'bad-number',
  'too-deep',
  'duplicate-key',
]);

function listAll(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

describe('yaml-test-suite', () => {
  const directory = unpack('yaml-test-suite/cases.tar.gz');

  itWithData('readDocument judges each case as the suite does, but for those it lists', () => {
    const inputs = listAll(directory).filter((file) => file.endsWith('in.yaml'));
    expect(inputs).toHaveLength(209);
    const wrong: string[] = [];
    for (const input of inputs) {
      const read = readDocument('in.yaml', readFileSync(input, 'utf8'));
      const invalid = existsSync(join(input, '../error'));
      const rejected = !read.ok && read.error.some(({ code }) => !OURS.has(code));
      if (rejected !== invalid && !(invalid && !read.ok)) wrong.push(input.slice(directory.length + 1));
    }
    expect(wrong).toEqual([]);
  });
});

describe('actionlint-err', () => {
  const directory = unpack('actionlint-err/cases.tar.gz');

  itWithData('parsePipeline rejects every workflow with a located message', () => {
    const inputs = listAll(directory).filter((file) => file.endsWith('.yaml'));
    expect(inputs).toHaveLength(45);
    for (const input of inputs) {
      const parsed = parsePipeline({ file: 'w.yaml', text: readFileSync(input, 'utf8') });
      expect(parsed.ok, input).toBe(false);
      if (parsed.ok) continue;
      expect(parsed.error.length, input).toBeGreaterThan(0);
      expect(
        parsed.error.every(({ range }) => range !== undefined),
        input,
      ).toBe(true);
    }
  });
});

describe('json-test-suite', () => {
  const directory = unpack('json-test-suite/test_parsing.tar.gz');

  itWithData('parsePipeline survives every file, and rejects all that are no JSON', () => {
    const inputs = listAll(directory).filter((file) => file.endsWith('.json'));
    expect(inputs).toHaveLength(149);
    for (const input of inputs) {
      const bytes = readFileSync(input);
      for (const text of [bytes.toString('utf8'), bytes.toString('latin1')]) {
        const parsed = parsePipeline({ file: 'p.json', text });
        expect(parsed.ok, input).toBe(false);
        const embedded = parsePipeline({
          file: 'p.json',
          text: `{"version":1,"name":"a","steps":{},"labels":${text}}`,
        });
        expect(embedded.ok, input).toBe(false);
      }
    }
  });

  itWithData('readDocument accepts every y_ file and rejects every n_ file', () => {
    for (const input of listAll(directory).filter((file) => file.endsWith('.json'))) {
      const name = input.split('/').at(-1) ?? '';
      const read = readDocument('p.json', `{"value":${readFileSync(input, 'utf8')}}`);
      if (name.startsWith('y_') && !name.includes('duplicated')) expect(read.ok, name).toBe(true);
      if (name.startsWith('n_')) expect(read.ok, name).toBe(false);
    }
  });
});

describe('debian-graph', () => {
  for (const [file, count] of [
    ['closure-texlive-full', 3],
    ['closure-kde-full', 2],
  ] as const) {
    itWithData(`cycles of ${file} are found exactly`, () => {
      const graph = JSON.parse(readGzip(`debian-graph/${file}.json.gz`)) as {
        nodes: [string][];
        edges: [number, number][];
        cycles: string[][];
      };
      expect(graph.cycles).toHaveLength(count);
      const rows = graph.nodes.map((): { on: number }[] => []);
      for (const [from, on] of graph.edges) rows[from]?.push({ on });
      const names = graph.nodes.map(([name]) => name.replace(/[^a-z0-9-]/g, '-'));
      const found = findCycles(createStepGraph(rows)).map(({ component }) =>
        component.map((index) => graph.nodes[index]?.[0]).sort(),
      );
      expect(found.sort()).toEqual(graph.cycles.map((cycle) => [...cycle].sort()).sort());

      const steps = Object.fromEntries(
        names.map((name, index) => [name, { command: ['true'], needs: rows[index]?.map(({ on }) => names[on]) }]),
      );
      const parsed = parsePipeline({ file: 'd.json', text: JSON.stringify({ version: 1, name: 'debian', steps }) });
      const cycles = parsed.ok ? [] : parsed.error.filter(({ code }) => code === 'cycle');
      expect(cycles).toHaveLength(count);
      for (const { message } of cycles) expect(message).toMatch(/depend on each other: (\S+) -> (?:\S+ -> )*\1(?:,|$)/);
    });
  }
});

describe('github-actions-shapes', () => {
  interface Job {
    readonly id: string;
    readonly needs: readonly string[];
    readonly matrix: { readonly axes: Readonly<Record<string, number | null>> } | null;
  }

  itWithData('every graph of jobs becomes a pipeline that can be planned', () => {
    const shapes = readGzip('pipelines/github-actions-shapes.jsonl.gz')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { src: string; jobs: Job[] });
    expect(shapes).toHaveLength(723);
    let planned = 0;
    for (const { src, jobs } of shapes) {
      const nameOf = (id: string): string => id.toLowerCase().replace(/[^a-z0-9]+/g, '-');
      if (jobs.length === 0 || new Set(jobs.map(({ id }) => nameOf(id))).size < jobs.length) continue;
      const steps = Object.fromEntries(
        jobs.map(({ id, needs, matrix }) => {
          const axes = Object.entries(matrix?.axes ?? {}).map(([axis, size]) => [
            axis.replace(/[^A-Za-z0-9_-]/g, '_'),
            Array.from({ length: size || 1 }, (_, index) => index),
          ]);
          return [
            nameOf(id),
            {
              command: ['true'],
              needs: needs.map(nameOf),
              ...(axes.length > 0 && { matrix: Object.fromEntries(axes) }),
            },
          ];
        }),
      );
      const parsed = parsePipeline({ file: src, text: JSON.stringify({ version: 1, name: 'shape', steps }) });
      expect(parsed.ok, `${src} ${JSON.stringify(parsed)}`).toBe(true);
      const plan = parsed.ok ? createPlan(parsed.value.pipeline) : undefined;
      expect(plan?.ok, src).toBe(true);
      if (plan?.ok) expect(planLevels(plan.value)).not.toContain(-1);
      planned++;
    }
    expect(planned).toBeGreaterThan(700);
  });
});

describe('argo-examples', () => {
  itWithData('parsePipeline rejects every manifest of another system, and names our keys', () => {
    const lines = readGzip('pipelines/argo-examples-skeletons.jsonl.gz').trim().split('\n');
    expect(lines).toHaveLength(88);
    for (const line of lines) {
      for (const document of (JSON.parse(line) as { docs: unknown[] }).docs) {
        const parsed = parsePipeline({ file: 'argo.json', text: JSON.stringify(document) });
        const hints = parsed.ok ? [] : parsed.error.map(({ hint }) => hint ?? '');
        expect(
          hints.some((hint) => hint.includes('`version: 1`')),
          line.slice(0, 80),
        ).toBe(true);
      }
    }
  });
});

describe('cron-expressions', () => {
  itWithData('parsePipeline takes every expression that is in use, and rejects the others', () => {
    const expressions = readFileSync(new URL('pipelines/cron-expressions.tsv', DATA), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
      .flatMap((fields) => fields.filter((field) => field.trim().split(/\s+/).length === 5 && /[*\d]/.test(field)));
    expect(expressions.length).toBeGreaterThan(70);
    const rejected = expressions.filter(
      (cron) =>
        !parsePipeline({
          file: 'p.json',
          text: JSON.stringify({ version: 1, name: 'a', schedule: { cron }, steps: { s: { command: ['x'] } } }),
        }).ok,
    );
    expect(rejected).toEqual([]);
  });
});
