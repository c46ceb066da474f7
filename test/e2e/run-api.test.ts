import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainerService, LogCut } from '@sluice/client';
import type {
  CellChange,
  CellDetails,
  CellList,
  CellMatches,
  CellNames,
  ChangeList,
  ClusterList,
  FileDifferences,
  FileList,
  PipelineList,
  RunDetails,
  RunList,
  RunStates,
} from '@sluice/host';
import { createService, EMBEDDED_SCOPE, embeddedConfig } from '@sluice/service';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ROUTES } from '../../packages/host/src/api/add-run-api.ts';
import { type ServedApi, serveRunApi } from './run-api-rig.ts';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: shown
labels: { team: research }
params: { size: { type: integer, default: 3 } }
failFast: false
steps:
  list:
    command: 'echo "[1, 2]" > /sluice/results/items; for i in 1 2 3 4 5; do echo "line $i"; done'
    results: { items: array }
  make: { resources: { cpu: 1, memory: 100MB }, command: 'mkdir /made/sub; echo hello > /made/sub/one.txt', outputs: { made: /made } }
  each:
    foreach: "\${{ steps.list.results.items }}"
    command: 'echo "\${{ item }}" > /out/item.txt'
    outputs: { out: /out }
  use: { command: 'cat /in/made/sub/one.txt; cp -r /in/made/sub /made/copy', inputs: { made: make.made, sub: make.made/sub }, outputs: { made: /made }, env: { COLOR: blue } }
  sum: { command: 'cat /in/each/*/item.txt', inputs: { each: each.out } }
  grid: { command: 'exit \${{ matrix.n }}', matrix: { n: [0, 7] }, continueOnError: true }
  gone: { command: 'true', needs: [grid], when: "\${{ false }}" }
outputs: { made: make.made }
`;

let place: Workplace;
let service: Awaited<ReturnType<typeof createService>>;
let api: ServedApi;
let runId: string;

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  expect(await place.sluice('run', 'pipeline.yaml')).toMatchObject({ exitCode: 0 });
  runId = (await place.runs())[0]!.runId;
  service = await createService({ config: embeddedConfig({ root: join(place.home, 'service') }) });
  const inProcess = service.inProcess({ userId: 'test', accounts: [EMBEDDED_SCOPE] }) as unknown as ContainerService;
  api = await serveRunApi({ home: place.home, openService: async () => ({ ok: true, value: inProcess }) });
});

afterAll(async () => {
  await api?.close();
  await service?.close();
  place?.remove();
});

/** The JSON value of a reply with status 200, which conforms to the schema of its route. */
async function get<T>(path: string): Promise<T> {
  const reply = await fetch(`${api.url}${path}`);
  const value = await reply.json();
  expect(reply.status, JSON.stringify(value)).toBe(200);
  const [pathname = ''] = path.split('?');
  const route = ROUTES.find(
    (one) => one.method === 'GET' && new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )!;
  if (typeof route.reply !== 'string')
    expect(() => (route.reply as { parse(v: unknown): unknown }).parse(value)).not.toThrow();
  return value as T;
}

async function reject(path: string, headers: Record<string, string> = {}) {
  const reply = await fetch(`${api.url}${path}`, { headers });
  const { code, status, details } = (await reply.json()) as {
    code: number;
    status: string;
    details: { reason: string }[];
  };
  expect(code).toBe(reply.status);
  return [code, status, details[0]?.reason];
}

const text = async (path: string, headers: Record<string, string> = {}) =>
  (await fetch(`${api.url}${path}`, { headers })).text();

test('lists the runs of the home, page by page and filtered', async () => {
  const { runs } = await get<RunList>('/runs');
  expect(runs).toMatchObject([{ runId, pipeline: 'shown', status: 'succeeded' }]);
  expect(runs[0]?.counts).toEqual({ succeeded: 7, failed: 1, skipped: 1 });
  expect((await get<RunList>('/runs?status=failed')).runs).toEqual([]);
  expect((await get<RunList>('/runs?pipeline=shown&createdAfter=2000-01-01T00:00:00Z')).runs).toHaveLength(1);
  expect((await get<RunList>('/runs?createdBefore=2000-01-01T00:00:00Z')).runs).toEqual([]);
  expect(runs[0]!.labels).toEqual({ team: 'research' });
  const found = async (query: string) => (await get<RunList>(`/runs?${query}`)).runs.length;
  expect(await found('label=team=research')).toBe(1);
  expect(await found('label=team&label=team=research')).toBe(1);
  expect(await found('label=team=other')).toBe(0);
  expect(await found('label=team&label=owner')).toBe(0);
  expect(await reject('/runs?status=active')).toEqual([400, 'INVALID_ARGUMENT', 'PARAMETER_INVALID']);
  expect(await reject('/runs?colour=1')).toEqual([400, 'INVALID_ARGUMENT', 'PARAMETER_INVALID']);
});

test('describes a run with its plan, its steps and its failures', async () => {
  const run = await get<RunDetails>(`/runs/${runId}`);
  expect(run).toMatchObject({
    status: 'succeeded',
    params: { size: 3 },
    labels: { team: 'research' },
    failureCount: 1,
  });
  expect(run.plan.steps.map(({ step: name, cells }) => [name, cells])).toEqual([
    ...[
      ['list', 1],
      ['make', 1],
      ['each', 2],
      ['use', 1],
      ['sum', 1],
      ['grid', 2],
      ['gone', 1],
    ],
  ]);
  expect(run.plan.steps[4]!.dependencies).toEqual([2]);
  expect(run.steps.map(({ counts }) => counts)[5]).toEqual({ succeeded: 1, failed: 1 });
  expect(run.steps[6]).toEqual({ status: 'skipped', counts: { skipped: 1 } });
  expect(run.failures).toMatchObject([{ step: 'grid', cell: 'n-7', exitCode: 7, reason: 'failed' }]);
  expect(run.outputs.made).toMatchObject({ step: 'make', locations: [{ cell: '' }] });
  expect(run.command).toContain('sluice run ');
  expect(run.criticalPath.length).toBeGreaterThan(0);
});

test('gives the states of all cells, and the changes that lead to them', async () => {
  const { states, position } = await get<RunStates>(`/runs/${runId}/states`);
  expect(states).toEqual(['s', 's', 'ss', 's', 's', 'sf', 'k']);
  const all = await get<ChangeList>(`/runs/${runId}/changes`);
  expect(all).toEqual({ position, changes: all.changes });
  // The cells of a step change together: one position has more changes than some of these pages.
  for (const pageSize of [1, 2, 3])
    expect(await readPages<CellChange>(`/runs/${runId}/changes?pageSize=${pageSize}`, 'changes')).toEqual(all.changes);
  const later = await get<ChangeList>(`/runs/${runId}/changes?after=${position - 1}`);
  expect(later.changes).toEqual(all.changes.filter(([at]) => at === position));
  const last = new Map(all.changes.map(([, , step, cell, status]) => [`${step}/${cell}`, status]));
  expect(Object.fromEntries(last)).toMatchObject({ '2/1': 'succeeded', '5/1': 'failed', '6/0': 'skipped' });
});

/** The entries of all pages of a list. */
async function readPages<T>(path: string, key: string): Promise<T[]> {
  const entries: T[] = [];
  const size = Number(/pageSize=(\d+)/.exec(path)?.[1]);
  let token: string | undefined;
  do {
    const page = await get<Record<string, unknown>>(`${path}${token === undefined ? '' : `&pageToken=${token}`}`);
    const shown = page[key] as T[];
    expect(shown.length).toBeLessThanOrEqual(size);
    entries.push(...shown);
    token = page.nextPageToken as string | undefined;
  } while (token !== undefined);
  return entries;
}

test('every list has pages, and accepts only its own tokens', async () => {
  const lists: readonly (readonly [string, string])[] = [
    ['/runs?', 'runs'],
    [`/runs/${runId}/changes?`, 'changes'],
    [`/runs/${runId}/cells?`, 'cells'],
    [`/runs/${runId}/cells?search=n-`, 'cells'],
    [`/runs/${runId}/cell-names?step=grid`, 'names'],
    [`/runs/${runId}/cell-matches?search=n-`, 'steps'],
    [`/runs/${runId}/files?step=sum&input=each`, 'entries'],
    ['/schedules?', 'schedules'],
    ['/pipelines?', 'pipelines'],
  ];
  const wrong = ['', '0', '5', '%ff', 'e30', Buffer.from('["x",1]').toString('base64url')];
  const tokens: string[] = [];
  for (const [list, key] of lists) {
    const first = await get<Record<string, unknown>>(`${list}&pageSize=1`);
    expect((await readPages(`${list}&pageSize=1`, key)).slice(0, 1), list).toEqual(first[key]);
    const token = first.nextPageToken;
    for (const other of [...wrong, ...tokens]) {
      const rejection = await reject(`${list}&pageToken=${other}`);
      expect(rejection, `${list} ${other}`).toEqual([400, 'INVALID_ARGUMENT', 'PAGE_TOKEN_INVALID']);
    }
    const long = await reject(`${list}&pageToken=${'a'.repeat(4_097)}`);
    expect(long).toEqual([400, 'INVALID_ARGUMENT', 'PARAMETER_INVALID']);
    if (typeof token === 'string') tokens.push(token);
  }
  expect(tokens).toHaveLength(5);
});

test('describes what the attempts of a cell have occupied', async () => {
  const cell = await get<CellDetails>(`/runs/${runId}/cell?step=make`);
  const [attempt] = cell.attempts;
  expect(cell.resources).toEqual({ cpu: 1, memoryBytes: 1e8 });
  expect(attempt!.instance!.cpu).toBeGreaterThanOrEqual(1);
  expect(attempt!.instance!.memoryGB).toBeGreaterThan(0);
  expect(attempt!.ranMs).toBe(Date.parse(attempt!.endedAt!) - Date.parse(attempt!.runningAt!));
  expect(attempt!.coreHours).toBeCloseTo((attempt!.instance!.cpu * attempt!.ranMs!) / 3_600_000, 5);
  const { ranMs, coreHours, gpuHours } = attempt!;
  expect(cell.usage).toEqual({ attempts: 1, ranMs, coreHours, gpuHours });
  const skipped = await get<CellDetails>(`/runs/${runId}/cell?step=gone`);
  expect(skipped.usage).toEqual({ attempts: 0, ranMs: 0, coreHours: 0, gpuHours: 0 });
  expect(skipped).not.toHaveProperty('resources');
});

test('finds cells by their names, below their steps', async () => {
  const find = (query: string) => get<CellMatches>(`/runs/${runId}/cell-matches?${query}`);
  const seven = { step: 'grid', stepIndex: 5, total: 1, cells: [{ cell: 'n-7', cellIndex: 1 }] };
  expect(await find('search=N-7')).toEqual({ steps: [seven], total: 1 });
  expect(await find('search=7+grid')).toEqual({ steps: [seven], total: 1 });
  expect(await find('search=grid/n-7')).toEqual({ steps: [seven], total: 1 });
  // Names of steps, and cells of plain steps, are found in the plan.
  for (const name of ['grid', 'list', 'each', 'list+grid', 'n-7+list'])
    expect(await find(`search=${name}`)).toEqual({ steps: [], total: 0 });
  const limited = await find('search=n-&perStep=1');
  expect(limited).toMatchObject({ steps: [{ total: 2, cells: [{ cell: 'n-0' }] }], total: 2 });
  expect((await get<CellList>(`/runs/${runId}/cells?search=7+grid`)).total).toBe(1);
  expect(await reject(`/runs/${runId}/cell-matches?search=+`)).toEqual([400, 'INVALID_ARGUMENT', 'PARAMETER_INVALID']);
});

test('lists cells by step, status and name', async () => {
  const { cells, total } = await get<CellList>(`/runs/${runId}/cells`);
  expect([cells.length, total]).toEqual([9, 9]);
  const failed = await get<CellList>(`/runs/${runId}/cells?status=failed`);
  expect(failed.cells).toMatchObject([{ step: 'grid', cell: 'n-7', status: 'failed', reason: 'failed', attempt: 1 }]);
  expect((await get<CellList>(`/runs/${runId}/cells?search=N-7`)).total).toBe(1);
  const paged = await readPages<CellList['cells'][number]>(`/runs/${runId}/cells?step=each&pageSize=1`, 'cells');
  expect(paged.map(({ item }) => item)).toEqual([1, 2]);
  expect(await get<CellNames>(`/runs/${runId}/cell-names?step=grid`)).toEqual({ names: ['n-0', 'n-7'], total: 2 });
  expect((await get<CellNames>(`/runs/${runId}/cell-names?step=grid&firstCellIndex=1&pageSize=5`)).names).toEqual([
    'n-7',
  ]);
  expect(await reject(`/runs/${runId}/cell-names?step=nothing`)).toEqual([404, 'NOT_FOUND', 'STEP_NOT_FOUND']);
  expect(paged[0]).not.toHaveProperty('results');
  const values = await get<CellList>(`/runs/${runId}/cells?step=grid&values=true`);
  expect(values.cells.map(({ matrix }) => matrix)).toEqual([{ n: 0 }, { n: 7 }]);
  expect((await get<CellList>(`/runs/${runId}/cells?step=list&values=true`)).cells[0]!.results).toEqual({
    items: [1, 2],
  });
});

test('explains each cell', async () => {
  const { cells } = await get<CellList>(`/runs/${runId}/cells`);
  for (const { step, cellIndex } of cells)
    await get<CellDetails>(`/runs/${runId}/cell?step=${step}&cellIndex=${cellIndex}`);
  const failed = await get<CellDetails>(`/runs/${runId}/cell?step=grid&cell=n-7`);
  expect(failed.attempts).toMatchObject([
    { attempt: 1, status: 'failed', failure: { exitCode: 7 }, retry: expect.any(String) },
  ]);
  const use = await get<CellDetails>(`/runs/${runId}/cell?step=use`);
  expect(use.environment).toContain('COLOR');
  expect(use.inputs).toMatchObject([
    { name: 'made', from: 'make.made', location: { volumeId: expect.any(String) } },
    { name: 'sub', from: 'make.made/sub', location: { path: expect.stringMatching(/\/made\/sub$/) } },
  ]);
  expect(use.history.length).toBeGreaterThan(2);
  expect(await reject(`/runs/${runId}/cell?step=nothing`)).toEqual([404, 'NOT_FOUND', 'STEP_NOT_FOUND']);
  expect(await reject(`/runs/${runId}/cell?step=use&cellIndex=1`)).toEqual([404, 'NOT_FOUND', 'CELL_NOT_FOUND']);
  expect(await reject(`/runs/${runId}/cell?step=grid&cell=n-8`)).toEqual([404, 'NOT_FOUND', 'CELL_NOT_FOUND']);
  const both = await reject(`/runs/${runId}/cell?step=grid&cell=n-7&cellIndex=1`);
  expect(both).toEqual([400, 'INVALID_ARGUMENT', 'PARAMETER_INVALID']);
});

test('sends a log whole, by bytes, by lines, and followed to its end', async () => {
  const path = `/runs/${runId}/log?step=list`;
  const whole = 'line 1\nline 2\nline 3\nline 4\nline 5\n';
  expect(await text(path)).toBe(whole);
  expect(await text(`${path}&follow=true`)).toBe(whole);
  expect(await text(`${path}&follow=true&offset=28`)).toBe('line 5\n');
  expect(await text(`${path}&line=2&count=2`)).toBe('line 2\nline 3\n');
  expect(await text(`${path}&line=5`)).toBe('line 5\n');
  expect(await text(`${path}&line=6`)).toBe('');
  const part = await fetch(`${api.url}${path}`, { headers: { range: 'bytes=7-13' } });
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
    206,
    'bytes 7-13/35',
    'line 2\n',
  ]);
  expect(await text(path, { range: 'bytes=-7' })).toBe('line 5\n');
  expect(await reject(path, { range: 'bytes=35-' })).toEqual([416, 'INVALID_ARGUMENT', 'RANGE_INVALID']);
  expect(await reject(`/runs/${runId}/log?step=gone`)).toEqual([404, 'NOT_FOUND', 'LOG_NOT_FOUND']);
});

test.each([true, false])(
  'names the last cut of a log, and reads it again from there (any place: %s)',
  async (anyPlace) => {
    const inProcess = service.inProcess({ userId: 'test', accounts: [EMBEDDED_SCOPE] }) as unknown as ContainerService;
    let cut: LogCut | undefined;
    const log = { text: 'line 1\nline 2\nline 3\n' };
    const bytes = async function* (start = 0, end?: number) {
      yield Buffer.from(log.text).subarray(start, end);
    };
    const containers = {
      ...inProcess.containers,
      logs(_: unknown, { onCut }: { onCut?: (cut: LogCut | undefined) => void } = {}) {
        onCut?.(cut);
        return bytes();
      },
      openLog: async () =>
        anyPlace
          ? {
              size: log.text.length,
              cut,
              read: (range: { start: number; end?: number }) => bytes(range.start, range.end),
            }
          : undefined,
    };
    const cutting = { ...inProcess, containers } as ContainerService;
    const other = await serveRunApi({ home: place.home, openService: async () => ({ ok: true, value: cutting }) });
    onTestFinished(() => other.close());
    const read = async (query = '') => {
      const reply = await fetch(`${other.url}/runs/${runId}/log?step=list${query}`);
      return [reply.headers.get('sluice-log-cut'), await reply.text()];
    };
    // The attempt has ended, so its copy is complete: it is not read again.
    if (anyPlace) {
      expect(await read()).toEqual([null, log.text]);
      expect(await read('&line=3')).toEqual([null, 'line 3\n']);
    }
    log.text = 'line 1\n\n[sluice] left out\nline 8\nline 9\n';
    cut = { start: 7, id: '7' };
    expect(await read()).toEqual(['7/7', log.text]);
    expect(await read('&line=5')).toEqual(['7/7', 'line 9\n']);
    expect(await read('&follow=true&offset=33')).toEqual(['7/7', 'line 9\n']);
  },
);

test('lists the files of inputs and outputs, and sends them as attachments', async () => {
  const files = (step: string, port: string, path = '') => `/runs/${runId}/files?step=${step}&${port}&path=${path}`;
  expect((await get<FileList>(files('make', 'output=made'))).entries).toMatchObject([
    { name: 'sub', kind: 'directory' },
  ]);
  expect((await get<FileList>(files('use', 'input=made', 'sub'))).entries).toMatchObject([
    { name: 'one.txt', bytes: 6 },
  ]);
  expect((await get<FileList>(files('use', 'input=sub'))).entries).toMatchObject([{ name: 'one.txt', bytes: 6 }]);
  expect((await get<FileList>(files('sum', 'input=each'))).entries).toHaveLength(2);
  // An input and an output of one name.
  expect((await get<FileList>(files('use', 'input=made'))).entries).toMatchObject([{ name: 'sub' }]);
  expect((await get<FileList>(files('use', 'output=made'))).entries).toMatchObject([{ name: 'copy' }]);
  const file = await fetch(`${api.url}${files('use', 'input=made', 'sub/one.txt')}`, {
    headers: { range: 'bytes=1-3' },
  });
  expect([file.status, await file.text()]).toEqual([206, 'ell']);
  expect(file.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''one.txt");
  expect(file.headers.get('x-content-type-options')).toBe('nosniff');
  expect(file.headers.get('content-security-policy')).toContain('sandbox');
  expect(await reject(files('make', 'output=made', '../../x'))).toEqual([404, 'NOT_FOUND', 'FILE_NOT_FOUND']);
  expect(await reject(files('make', 'output=other'))).toEqual([404, 'NOT_FOUND', 'OUTPUT_NOT_FOUND']);
  expect(await reject(files('make', 'input=made'))).toEqual([404, 'NOT_FOUND', 'INPUT_NOT_FOUND']);
  for (const both of ['', 'input=made&output=made']) {
    expect(await reject(files('use', both))).toEqual([400, 'INVALID_ARGUMENT', 'PARAMETER_INVALID']);
  }
});

test('compares the files of two cells by their content', async () => {
  const compare = (query: string) => get<FileDifferences>(`/runs/${runId}/differences?with=${runId}&${query}`);
  expect(await compare('step=make&output=made')).toMatchObject({ differences: [], total: 0, same: 1 });
  expect(await compare('step=each&output=out&cellIndex=1')).toMatchObject({ differences: [], total: 0, same: 1 });
  const side = { bytes: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
  const second = (await get<CellList>(`/runs/${runId}/cells?step=each`)).cells[1]!;
  expect(await compare(`step=each&output=out&withCell=${second.cell}`)).toEqual({
    differences: [{ path: 'item.txt', kind: 'changed', here: side, there: side }],
    ...{ otherCellIndex: 1, total: 1, same: 0 },
  });
  expect((await compare('step=sum&input=each')).same).toBe(2);
  const path = `/runs/${runId}/differences?step=make&output=made`;
  expect(await reject(`${path}&with=aaaaaaaaaaaaa`)).toEqual([404, 'NOT_FOUND', 'RUN_NOT_FOUND']);
  expect(await reject(`${path}&with=${runId}&withStep=list`)).toEqual([404, 'NOT_FOUND', 'OUTPUT_NOT_FOUND']);
  expect(await reject(`${path}&with=${runId}&withCell=none`)).toEqual([404, 'NOT_FOUND', 'CELL_NOT_FOUND']);
});

test('lists clusters with their load, and no pipelines if it executes none', async () => {
  const { clusters, pools, message } = await get<ClusterList>('/clusters');
  expect([pools, message]).toEqual([[], undefined]);
  expect(clusters[0]!.instanceTypes[0]).toMatchObject({ id: 'local-1', cpu: 1 });
  expect(clusters).toMatchObject([{ clusterId: 'local', containers: {} }]);
  expect(await get<PipelineList>('/pipelines')).toEqual({ pipelines: [] });
});

test('rejects unknown runs and paths in the form of the protocol', async () => {
  for (const path of ['', '/states', '/changes', '/cells', '/cell?step=a', '/log?step=a', '/files?step=a&output=b']) {
    expect(await reject(`/runs/aaaaaaaaaaaaa${path}`)).toEqual([404, 'NOT_FOUND', 'RUN_NOT_FOUND']);
    expect((await reject(`/runs/..%2f..%2fx${path}`)).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
  }
  expect(await reject('/nothing')).toEqual([404, 'NOT_FOUND', 'PATH_NOT_FOUND']);
});

test('the requests of the page work as they are written', async () => {
  const page = readFileSync(new URL('../../docs/run-api.md', import.meta.url), 'utf8');
  const requests = [...page.matchAll(/^GET (\/.*)$/gm)]
    .map(([, path = '']) => path)
    // Those of a schedule are in run-actions.test.ts.
    .filter((path) => !path.includes('NAME'));
  expect(requests.length).toBeGreaterThan(12);
  for (const request of requests) {
    const path = request.replaceAll('RUN', runId).replaceAll('STEP', 'make').replaceAll('OUTPUT', 'made');
    expect((await fetch(`${api.url}${path}`)).status, request).toBe(200);
  }
});

test('describes every endpoint in the OpenAPI document', async () => {
  const text = await (await fetch(`${api.url}/openapi.json`)).text();
  const { paths, openapi, components } = JSON.parse(text) as {
    openapi: string;
    paths: object;
    components: { schemas: object };
  };
  const refs = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect(refs.length).toBe(text.match(/"\$ref":/g)?.length);
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining([...new Set(refs)]));
  expect(openapi).toBe('3.1.0');
  expect(Object.values(paths).flatMap((path) => Object.keys(path))).toHaveLength(ROUTES.length);
});
