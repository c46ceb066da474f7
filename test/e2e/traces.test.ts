import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ReceivedSpan, readTraceRequest } from '../../packages/runner/test/trace/read-trace-request.ts';
import { createWorkplace, isAlive, parseLines, type Started, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: traced
steps:
  first:
    command: [sh, -c, 'printf %s "$TRACEPARENT" > "$SLUICE_RESULTS/parent"']
    results: { parent: string }
  gate: { approval: { message: continue }, needs: [first] }
  last: { command: ['true'], needs: [gate] }
`;

let place: Workplace;
let collector: Server;
let spans: ReceivedSpan[];
let faults: unknown[];
let env: { readonly SLUICE_OTLP: string };

beforeEach(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  [spans, faults] = [[], []];
  collector = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      try {
        expect(`${request.method} ${request.url}`).toBe('POST /v1/traces');
        expect(request.headers['content-type']).toBe('application/json');
        spans.push(...readTraceRequest(body));
      } catch (error) {
        faults.push(error);
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  env = { SLUICE_OTLP: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` };
});

afterEach(async () => {
  await place.sluice('cancel');
  place.remove();
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
});

/** Resumes the run; resolves when the process executes it. */
async function resume(runId: string): Promise<Started> {
  const resumed = place.start(['resume', runId, '--json'], { env, isEndless: true });
  await until(() => resumed.stdout().includes('"approvalAsked"'), 'the resumed run');
  return resumed;
}

test('a run whose processes are killed is one complete trace', async () => {
  const detached = await place.start(['run', '--detach', '--json'], { env }).ended;
  const { runId, hostPid } = parseLines<{ runId: string; hostPid: number }>(detached.stdout).at(-1)!;
  const isWaiting = async () => (await place.show(runId)).steps[1]?.status === 'awaitingApproval';
  await until(isWaiting, 'the request for approval');
  process.kill(hostPid, 'SIGKILL');
  await until(() => !isAlive(hostPid), 'the end of the host');
  const killed = await resume(runId);
  killed.process.kill('SIGKILL');
  await killed.ended;
  const resumed = await resume(runId);
  expect((await place.sluice('approve', '-r', runId, 'gate')).exitCode).toBe(0);
  expect((await resumed.ended).exitCode).toBe(0);

  expect(faults).toEqual([]);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  for (const span of spans) expect(span).toEqual(byId.get(span.spanId));
  const pathOf = ({ name, parentSpanId }: ReceivedSpan): string =>
    parentSpanId === undefined ? name : `${pathOf(byId.get(parentSpanId)!)} > ${name}`;
  expect([...byId.values()].map(pathOf).sort()).toEqual([
    'traced',
    'traced > first',
    'traced > first > attempt 1',
    'traced > gate',
    'traced > last',
    'traced > last > attempt 1',
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const { steps } = await place.show(runId);
  const attempt = spans.find(({ name, attributes }) => name === 'attempt 1' && attributes['sluice.step'] === 'first')!;
  expect(steps[0]!.cells[0]!.results).toEqual({ parent: `00-${attempt.traceId}-${attempt.spanId}-01` });
});
