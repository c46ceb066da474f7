// A soak with real processes: the process that executes detached runs is killed with -9 again and again while many runs are
// in progress. It is the long form of test/chaos/host-chaos.test.ts; that none of its claims fails is the result. Run after
// a build. With `server`, it is `sluice serve` that is killed, with the runs of an account, their service and its engine.
// Usage: node bench/host-chaos.mjs [kills] [runs] [seed] [server]
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [kills = '100', runs = '20', seed = String(Date.now() % 1_000_000), kind = 'home'] = process.argv.slice(2);
const begun = performance.now();
const vitest = spawn('pnpm', ['exec', 'vitest', 'run', '--project', 'e2e', 'test/chaos/host-chaos.test.ts'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: { ...process.env, SLUICE_HOST_KILLS: kills, SLUICE_HOST_RUNS: runs, SLUICE_HOST_KIND: kind, SLUICE_SEED: seed },
  stdio: 'inherit',
});
vitest.on('close', (code) => {
  console.log(`${Math.round((performance.now() - begun) / 1000)} s, seed ${seed}`);
  process.exitCode = code ?? 1;
});
