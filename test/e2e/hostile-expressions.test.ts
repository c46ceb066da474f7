import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCaller, createHostedPlace, type HostedServer, prepareOrder } from './hosted-rig.ts';
import { watchNeighbor } from './hostile-account.ts';
import { until } from './workplace-rig.ts';

const TEN = '[0,1,2,3,4,5,6,7,8,9]';
const NESTED = Array.from({ length: 6 }).reduce((inner: string, _, at) => `${TEN}.all(v${at}, ${inner})`, 'true');
const LIST = `[${Array.from({ length: 2000 }, (_, at) => at).join(',')}]`;

/** Thirty decisions that cost as much as one may. */
const EXPENSIVE = `version: 1
name: expensive
failFast: false
steps:
${Array.from({ length: 30 }, (_, at) => `  s${at}: { command: 'true', when: '\${{ ${NESTED} }}' }`).join('\n')}
`;

const PATTERNS = `version: 1
name: patterns
steps:
  make:
    command: 'touch /out/files/${'a'.repeat(60)}'
    outputs: { files: { expect: ['${'*a'.repeat(20)}*b'] } }
`;

/** Each step has fewer cells than a run may have, and both together more. */
const WIDE = `version: 1
name: wide
params: { list: { type: array, default: ${LIST} } }
steps:
  small: { command: 'true', foreach: '\${{ params.list.filter(x, x < 3) }}' }
  large: { command: 'true', foreach: '\${{ params.list }}', needs: small }
`;

let place: ReturnType<typeof createHostedPlace>;
let server: HostedServer;

beforeEach(async () => {
  place = createHostedPlace('runs: { steps: 1000 }', { hasNeighbor: true });
  server = await place.open();
});

afterEach(async () => {
  await server.close();
  place.remove();
});

/** Executes a run on the server while another account is served; returns the messages of its failures. */
async function attack(text: string): Promise<readonly string[]> {
  const neighbor = await watchNeighbor(server);
  const caller = createCaller(server);
  const run = await prepareOrder(server, text);
  expect((await caller.order(run)).status).toBe(200);
  await until(async () => (await caller.status(run.runId)) === 'failed', 'the run to fail');
  const { body } = await caller.json('GET', `/runs/${run.runId}`);
  const { times } = neighbor;
  console.info(`requests of the other account: ${times.length}, longest ${times.at(-1)?.toFixed()} ms`);
  await neighbor.end();
  return (body as unknown as { failures: readonly { message: string }[] }).failures.map(({ message }) => message);
}

test('decisions that take long fail, and another account is served meanwhile', async () => {
  const messages = await attack(EXPENSIVE);
  expect(messages).toHaveLength(30);
  for (const message of messages) expect(message).toContain('take more than 1000000 iterations together');
});

test('a pattern of files that takes exponential time elsewhere is matched while another account is served', async () => {
  expect(await attack(PATTERNS)).toEqual([expect.stringContaining('no file matches the expected pattern')]);
});

test('cells beyond the limit of the account fail their step, and another account is served meanwhile', async () => {
  expect(await attack(WIDE)).toEqual([
    expect.stringContaining('it yields 2000 items: the run would have 2003 cells, and this server allows 1000'),
  ]);
});
