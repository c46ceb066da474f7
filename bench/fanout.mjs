// One step with ten thousand cells, by `matrix` and by a `foreach` over what another step found: the whole command on the
// embedded service, beside the machine's own floor of one run (`true` through unshare). What a terminal would show while
// it runs is counted from a run in a pseudo-terminal.
//
//   node bench/fanout.mjs [--cells 10000] [--at-once 8]
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { cells: { type: 'string', default: '10000' }, 'at-once': { type: 'string', default: '8' } },
});
const count = Number(values.cells);
const atOnce = values['at-once'];
const sluice = fileURLToPath(new URL('../packages/cli/bin/sluice.js', import.meta.url));
const list = `i=0; while [ $i -lt ${count} ]; do printf '%s%s' "$c" $i; c=,; i=$((i+1)); done`;

const PIPELINES = {
  matrix: {
    each: { matrix: { i: Array.from({ length: count }, (_, i) => i) }, command: ['true'] },
    join: { needs: ['each'], command: ['true'] },
  },
  foreach: {
    list: {
      command: ['sh', '-c', `(printf '['; ${list}; printf ']') > /sluice/results/items`],
      results: { items: 'array' },
    },
    each: { foreach: `\${{ steps.list.results.items }}`, command: ['true'] },
    join: { needs: ['each'], command: ['true'] },
  },
};

/** Seconds, and the peak memory in MiB as the kernel counts it, of a command that must succeed. */
async function measure(command, args, options) {
  const start = process.hrtime.bigint();
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  let peak = 0;
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has ended.
    }
  }, 50);
  const code = await new Promise((resolve) => child.on('exit', resolve));
  clearInterval(watch);
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9, peak };
}

const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
try {
  const unshare = ['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', 'true'];
  const floor = await measure('sh', ['-c', `seq ${count} | xargs -P ${atOnce} -I{} ${unshare.join(' ')}`]);
  const perCell = (seconds) => `${((seconds * 1000) / count).toFixed(2)} ms a cell`;
  console.log(`unshare  ${floor.seconds.toFixed(1)} s  ${perCell(floor.seconds)}`);
  for (const [name, steps] of Object.entries(PIPELINES)) {
    const cwd = join(directory, name);
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'pipeline.json'), JSON.stringify({ version: 1, name, steps }));
    const run = ['run', 'pipeline.json', '--cpu', atOnce, '--parallelism', atOnce];
    const whole = await measure(process.execPath, [sluice, ...run, '--home', join(cwd, 'home')], { cwd });
    const ratio = (whole.seconds / floor.seconds).toFixed(2);
    console.log(
      `${name.padEnd(7)}  ${whole.seconds.toFixed(1)} s  ${perCell(whole.seconds)}  ${ratio} × unshare  ${whole.peak.toFixed(0)} MiB at most`,
    );
  }
  const command = `${process.execPath} ${sluice} run pipeline.json --home tty --cpu ${atOnce} --parallelism ${atOnce}`;
  const terminal = spawnSync('script', ['-qec', command, '/dev/null'], {
    cwd: join(directory, 'matrix'),
    env: { ...process.env, COLUMNS: '100', LINES: '30', TERM: 'xterm' },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const lines = terminal.stdout.split('\n');
  console.log(`terminal: ${terminal.stdout.length} bytes, ${lines.length} lines in all; the last of them:`);
  console.log(lines.slice(-6).join('\n'));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
console.log(`load ${loadavg()[0].toFixed(1)}`);
