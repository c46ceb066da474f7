// Compares this checkout with another commit: the same commands on the same inputs, one after the other in turns, so that
// both meet the same load. Processor time (user and system, with containers) and peak memory of the command itself.
//
//   node bench/against.mjs COMMIT [--rounds 5] [--rows check,plan]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pipelineOf, SHAPES } from './graphs.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, rows: { type: 'string' } },
});
const [commit] = positionals;
if (commit === undefined) {
  console.error('usage: node bench/against.mjs COMMIT [--rounds 5] [--rows check,plan]');
  process.exit(2);
}
const root = fileURLToPath(new URL('..', import.meta.url));

/** Arguments that both commits must accept. `prepare` runs once for each commit, in a home of its own. */
const ROWS = {
  check: { steps: SHAPES.independent(1), args: ['check', 'pipeline.json'] },
  runs: { steps: SHAPES.independent(1), args: ['runs'], prepare: ['run', 'pipeline.json'] },
  'run of one step': { steps: SHAPES.independent(1), args: ['run', 'pipeline.json'] },
  '3,000 steps in layers': { steps: SHAPES.layered(3000), args: ['run', 'pipeline.json'] },
  '10,000 cached steps': {
    steps: SHAPES.layered(10_000),
    keys: { cache: true },
    args: ['run', 'pipeline.json'],
    prepare: ['run', 'pipeline.json'],
  },
  'plan of 100,000 steps': { steps: SHAPES.layered(100_000), args: ['plan', 'pipeline.json'] },
};

const directory = mkdtempSync(join(tmpdir(), 'sluice-against-'));
// Without a variable of the user's that would change what is measured.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')));

/** Prints the command's peak memory when it ends. */
const REPORT_MEMORY = `data:text/javascript,import{appendFileSync}from'node:fs';process.on('exit',()=>appendFileSync(process.env.PEAK_FILE,process.resourceUsage().maxRSS+'\\n'))`;

function execute(command, args, options) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    ...options,
  });
  if (error || status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error ?? stderr.slice(-2000)}`);
  return { stdout, stderr };
}

/** A checkout of the commit, built; kept for the next comparison. */
function checkOut() {
  const { stdout } = execute('git', ['rev-parse', '--verify', `${commit}^{commit}`], { cwd: root });
  const place = join(tmpdir(), `sluice-at-${stdout.trim()}`);
  if (!existsSync(join(place, 'packages/cli/dist'))) {
    rmSync(place, { recursive: true, force: true });
    console.error(`building ${commit} in ${place} …`);
    execute('git', ['clone', '--quiet', '--no-checkout', root, place]);
    execute('git', ['checkout', '--quiet', stdout.trim()], { cwd: place });
    execute('npm', ['run', 'setup'], { cwd: place });
  }
  return place;
}

/** Processor seconds and peak memory (MB) of one execution. */
function measure(checkout, args, cwd) {
  const peakFile = join(cwd, 'peak');
  rmSync(peakFile, { force: true });
  const command = [
    process.execPath,
    join(checkout, 'packages/cli/bin/sluice.js'),
    ...args,
    '--home',
    join(cwd, 'home'),
  ];
  const { stderr } = execute('bash', ['-c', 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1', 'bash', ...command], {
    cwd,
    env: { ...env, NODE_OPTIONS: `--import ${JSON.stringify(REPORT_MEMORY)}`, PEAK_FILE: peakFile },
  });
  const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
  const peaks = readFileSync(peakFile, 'utf8').trim().split('\n').map(Number);
  return { cpu: user + system, memory: Math.max(...peaks) / 1024 };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const print = (row) => console.log(row.map((cell, i) => (i === 0 ? cell.padEnd(24) : cell.padStart(12))).join(''));

try {
  const checkouts = { before: checkOut(), now: root };
  print(['', 'CPU s before', 'now', 'now/before', 'MB before', 'now']);
  for (const [name, { steps, keys, args, prepare }] of Object.entries(ROWS)) {
    if (values.rows !== undefined && !values.rows.split(',').some((row) => name.includes(row))) continue;
    const text = pipelineOf(steps, keys);
    const places = Object.entries(checkouts).map(([version, checkout]) => {
      const cwd = join(directory, version, name.replaceAll(' ', '-'));
      mkdirSync(cwd, { recursive: true });
      writeFileSync(join(cwd, 'pipeline.json'), text);
      if (prepare) measure(checkout, prepare, cwd);
      return { checkout, cwd, results: [] };
    });
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const place of round % 2 === 0 ? places : places.toReversed()) {
        place.results.push(measure(place.checkout, args, place.cwd));
      }
    }
    const [before, now] = places.map(({ results }) => ({
      cpu: median(results.map(({ cpu }) => cpu)),
      memory: median(results.map(({ memory }) => memory)),
    }));
    print([
      name,
      before.cpu.toFixed(2),
      now.cpu.toFixed(2),
      (now.cpu / before.cpu).toFixed(2),
      before.memory.toFixed(0),
      now.memory.toFixed(0),
    ]);
    for (const { cwd } of places) rmSync(cwd, { recursive: true });
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
