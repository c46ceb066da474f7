// Overhead of a no-op step from end to end: `sluice run` on the embedded service, with namespaces, journal and store
// on, beside make, ninja, and the machine's own floor (the spawning of `true`, plain and through unshare) in one run.
//
//   node bench/overhead.mjs [--steps 1000,10000] [--at-once 2,8,64] [--shapes independent,chain,layered,diamond]
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makefileOf, ninjaOf, pipelineOf, SHAPES } from './graphs.mjs';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '1000,10000' },
    'at-once': { type: 'string', default: '2,8,64' },
    shapes: { type: 'string', default: Object.keys(SHAPES).join(',') },
  },
});
const sluice = fileURLToPath(new URL('../packages/cli/bin/sluice.js', import.meta.url));
const unshare = ['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', 'true'];

/** Wall milliseconds of a command, or undefined where it is not installed; anything but success throws. */
function time(command, args, options) {
  const start = process.hrtime.bigint();
  const { error, status, stderr } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], ...options });
  if (error?.code === 'ENOENT') return undefined;
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error ?? stderr.toString().slice(-2000)}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/** `seq | xargs -P`: a C program that starts each command once and waits. */
function floor(count, atOnce, command) {
  return time('sh', ['-c', `seq ${count} | xargs -P ${atOnce} -I{} ${command.join(' ')}`]);
}

const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const print = (...cells) => console.log(cells.map((cell) => String(cell).padStart(11)).join(''));
const perStep = (ms, count) => (ms === undefined ? '-' : (ms / count).toFixed(3));

try {
  console.log('milliseconds per no-op step, wall, start of the command included');
  print('shape', 'steps', 'at once', 'sluice', 'unshare', 'spawn', 'make', 'ninja', '÷ unshare');
  for (const count of values.steps.split(',').map(Number)) {
    for (const atOnce of values['at-once'].split(',').map(Number)) {
      const unshared = floor(count, atOnce, unshare);
      const spawned = floor(count, atOnce, ['true']);
      for (const shape of values.shapes.split(',')) {
        const needs = SHAPES[shape](count);
        const cwd = join(directory, `${shape}-${count}-${atOnce}`);
        mkdirSync(cwd);
        writeFileSync(join(cwd, 'pipeline.json'), pipelineOf(needs));
        writeFileSync(join(cwd, 'Makefile'), makefileOf(needs));
        writeFileSync(join(cwd, 'build.ninja'), ninjaOf(needs));
        const ours = time(
          process.execPath,
          [sluice, 'run', 'pipeline.json', '--home', join(cwd, 'home'), '--cpu', atOnce, '--parallelism', atOnce].map(
            String,
          ),
          { cwd },
        );
        const make = time('make', [`-j${atOnce}`, '-s'], { cwd });
        const ninja = time('ninja', [`-j${atOnce}`, '--quiet'], { cwd });
        const cells = [ours, unshared, spawned, make, ninja].map((ms) => perStep(ms, count));
        print(shape, count, atOnce, ...cells, (ours / unshared).toFixed(2));
        rmSync(cwd, { recursive: true });
      }
    }
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
