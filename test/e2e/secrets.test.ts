import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

const CANARY = `canary-${'7f3a9c'.repeat(4)}`;

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

/** Prints its secret, fails, is tried again, leaves the secret as a result, and tells a webhook that is away of it. */
const PIPELINE = `
version: 1
name: spill
secrets: [TOKEN, HOOK]
failFast: false
notify: { on: [failed], webhook: "\${{ secrets.HOOK }}" }
steps:
  talk:
    command: [sh, -c, "echo my token is $TOKEN; echo $TOKEN >&2; echo $TOKEN > /sluice/results/said; sleep 1; exit 3"]
    env: { TOKEN: "\${{ secrets.TOKEN }}" }
    results: { said: string }
    retry: { limit: 1, backoff: { initial: 100ms } }
  keep:
    command: [sh, -c, "echo $TOKEN > /sluice/results/said"]
    secrets: [TOKEN]
    results: { said: string }
`;

test('a secret is in nothing that a run leaves, shows or hands to other processes of the machine', async () => {
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
  const env = { SLUICE_SECRET_TOKEN: CANARY, SLUICE_SECRET_HOOK: `http://127.0.0.1:9/${CANARY}` };
  const run = place.start(['run', 'p.yaml', '--json'], { env });
  const inArguments: string[] = [];
  await until(() => {
    inArguments.push(...findInArguments());
    return run.process.exitCode !== null;
  }, 'the run to end');
  const { exitCode, stdout, stderr } = await run.ended;
  expect(exitCode, stdout + stderr).toBe(1);
  const told = `${stdout}${stderr}${(await place.sluice('show')).stdout}${(await place.sluice('why', 'talk')).stdout}`;
  expect(told).toContain('my token is [secret]');
  expect(told).toContain('result said contains the value of the secret TOKEN');
  expect(told).toContain('could not notify by webhook');
  expect(told).not.toContain(CANARY);
  expect(inArguments).toEqual([]);

  // What the service keeps to start and show containers, and what they have written themselves, is its own business.
  const files = findFiles(place.home).filter((file) => !relative(place.home, file).startsWith('service/'));
  expect(files.some((file) => file.endsWith('journal.ndjson'))).toBe(true);
  expect(files.some((file) => file.endsWith('.log'))).toBe(true);
  expect(files.filter((file) => readFileSync(file).includes(CANARY)).map((file) => relative(place.home, file))).toEqual(
    [],
  );
  for (const { labels, command, state } of await place.containers()) {
    expect(JSON.stringify({ labels, command, state })).not.toContain(CANARY);
  }
});

function findFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Command lines on this machine that have the secret: any user can read those. */
function findInArguments(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return line.includes(CANARY) ? [line] : [];
      } catch {
        return [];
      }
    });
}
