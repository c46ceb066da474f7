// A soak with real processes: the runner and the service killed with -9 again and again across runs of a 200-step graph,
// through a proxy that delays, cuts and duplicates, and across runs of one concurrency group; the runners' clocks jump. It is
// the long form of test/chaos/chaos.test.ts; that none of its claims fails is the result. Run after a build.
// Usage: node bench/chaos.mjs [kills of the runner] [kills of the service] [kills of a runner with its embedded service] [seed] [kills of runners of a group]
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [runner = '400', service = '100', embedded = '100', seed = String(Date.now() % 1_000_000), group = '100'] =
  process.argv.slice(2);
const env = {
  ...process.env,
  SLUICE_RUNNER_KILLS: runner,
  SLUICE_SERVICE_KILLS: service,
  SLUICE_EMBEDDED_KILLS: embedded,
  SLUICE_GROUP_KILLS: group,
  SLUICE_LAYERS: '20',
  SLUICE_SEED: seed,
};
const begun = performance.now();
const vitest = spawn('pnpm', ['exec', 'vitest', 'run', '--project', 'e2e', 'test/chaos/chaos.test.ts'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env,
  stdio: 'inherit',
});
vitest.on('close', (code) => {
  console.log(`${Math.round((performance.now() - begun) / 1000)} s, seed ${seed}`);
  process.exitCode = code ?? 1;
});
