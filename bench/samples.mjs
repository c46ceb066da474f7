// Stages over items without a barrier, with the whole command on the embedded service.
//   latency   from the end of a cell to the start of the cell that reads it, while another item is slow (3 items)
//   noop      a cell of a chain of three steps beside a step of a layered graph, each running `true`
//   added     a second run with one more sample: five stages with temporary outputs, cached, and a fan-in
// Usage, after a build: node bench/samples.mjs latency [rounds] | noop [items] | added [samples]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHAPES } from './graphs.mjs';

const sluice = fileURLToPath(new URL('../packages/cli/bin/sluice.js', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-samples-'));
const STAGES = ['trim', 'align', 'sort', 'mark', 'call'];
const COMMANDS = { latency, noop, added };
const [name, count] = process.argv.slice(2);

try {
  if (!Object.hasOwn(COMMANDS, name ?? '')) throw new Error(`one of ${Object.keys(COMMANDS).join(', ')} is missing`);
  COMMANDS[name](count === undefined ? undefined : Number(count));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function execute(...args) {
  const started = process.hrtime.bigint();
  const { status, stdout, stderr } = spawnSync(process.execPath, [sluice, ...args], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`sluice ${args.join(' ')}: ${stderr.slice(-2000)}`);
  return { stdout, seconds: Number(process.hrtime.bigint() - started) / 1e9 };
}

function write(file, pipeline) {
  writeFileSync(join(directory, file), JSON.stringify({ version: 1, ...pipeline }));
}

function keysOf(count) {
  return Array.from({ length: count }, (_, index) => `i${index}`);
}

/** One of three items takes 3 s in its first step; the others must not wait for it. */
function latency(rounds = 5) {
  write('latency.json', {
    name: 'latency',
    axes: { sample: ['S1', 'S2', 'S3'] },
    steps: {
      align: {
        each: 'sample',
        script: 'test "${{ each.sample }}" != S1 || sleep 3; echo x >/out/bam/x',
        outputs: ['bam'],
      },
      sort: { each: 'sample', inputs: { bam: 'align.bam' }, command: ['true'] },
    },
  });
  const values = [];
  for (let round = 0; round < rounds; round++) {
    execute('run', 'latency.json', '--home', join(directory, 'home'), '--cpu', '4');
    const { steps } = JSON.parse(execute('show', '--json', '--home', join(directory, 'home')).stdout);
    const find = (step, cell) => steps.find((one) => one.step === step).cells.find((one) => one.cell === cell);
    for (const key of ['S1', 'S2', 'S3']) {
      values.push(Date.parse(find('sort', key).runningAt) - Date.parse(find('align', key).endedAt));
    }
  }
  values.sort((a, b) => a - b);
  console.log(`ms from the end of align to the start of sort: ${values.join(' ')}`);
}

/** Each command runs once before it is measured, and both take turns. */
function noop(items = 10_000) {
  write('chain.json', {
    name: 'chain',
    axes: { item: keysOf(items) },
    steps: {
      first: { each: 'item', command: ['true'] },
      second: { each: 'item', needs: ['first'], command: ['true'] },
      third: { each: 'item', needs: ['second'], command: ['true'] },
    },
  });
  const layers = SHAPES.layered(3 * items);
  const steps = layers.map((on, i) => [`s${i}`, { command: ['true'], needs: on.map((n) => `s${n}`) }]);
  write('layered.json', { name: 'layered', steps: Object.fromEntries(steps) });
  const micros = { chain: [], layered: [] };
  for (let round = 0; round < 3; round++) {
    for (const [kind, values] of Object.entries(micros)) {
      const home = join(directory, `home-${kind}-${round}`);
      const { seconds } = execute('run', `${kind}.json`, '--home', home, '--cpu', '8');
      values.push((seconds * 1e6) / (3 * items));
      rmSync(home, { recursive: true });
    }
  }
  const [chain, layered] = Object.values(micros).map((values) => values.sort((a, b) => a - b)[1]);
  console.log(
    `µs: ${chain.toFixed(0)} a cell of a chain, ${layered.toFixed(0)} a step in layers: ${(chain / layered).toFixed(2)} times`,
  );
}

/** All but the last stage have temporary outputs of 64 KiB. The time of the command is that beyond its containers. */
function added(samples = 1000) {
  const steps = STAGES.map((stage, index) => [
    stage,
    {
      each: 'sample',
      ...(index > 0 && { inputs: { before: `${STAGES[index - 1]}.o` } }),
      script: 'head -c 65536 /dev/zero >/out/o/x',
      outputs: index < STAGES.length - 1 ? { o: { temporary: true } } : ['o'],
    },
  ]);
  const table = { inputs: { calls: 'call.o' }, script: 'ls /in/calls >/out/o/x', outputs: ['o'] };
  const home = join(directory, 'home');
  const run = (count) => {
    write('added.json', {
      name: 'added',
      axes: { sample: keysOf(count) },
      defaults: { cache: true },
      steps: { ...Object.fromEntries(steps), table },
    });
    return execute('run', 'added.json', '--home', home, '--cpu', '8').seconds;
  };
  console.log(`${samples} samples: ${run(samples).toFixed(1)} s`);
  const wanted = STAGES.length + 1;
  for (let more = 1; more <= 3; more++) {
    const seconds = run(samples + more);
    const report = JSON.parse(execute('show', '--json', '--home', home).stdout);
    const ran = report.steps.flatMap(({ cells }) => cells).filter(({ reused }) => !reused);
    if (ran.length !== wanted) throw new Error(`${ran.length} cells ran instead of ${wanted}`);
    const inCells = ran.reduce((sum, { runningAt, endedAt }) => sum + Date.parse(endedAt) - Date.parse(runningAt), 0);
    console.log(
      `one more: ${seconds.toFixed(2)} s; ${ran.length} cells ran for ${(inCells / 1000).toFixed(2)} s in all, so ${(seconds - inCells / 1000).toFixed(2)} s beyond them`,
    );
  }
}
