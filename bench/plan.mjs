/**
 * Reading, checking and planning large pipelines: time and peak memory, each in a process of its own.
 *
 *   pnpm build && node bench/plan.mjs [steps]
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const KINDS = ['parse only', 'json', 'matrix', 'yaml'];
const [first, kind] = process.argv.slice(2);

if (kind === undefined) {
  const counts = first === undefined ? [10_000, 100_000] : [Number(first)];
  console.log(
    `${'input'.padEnd(12)}${'steps'.padStart(9)}${'MB'.padStart(8)}${'ms'.padStart(9)}${'CPU ms'.padStart(9)}${'µs/step'.padStart(9)}${'peak MiB'.padStart(10)}`,
  );
  for (const count of counts) {
    for (const name of KINDS) {
      // The YAML parser alone takes half a minute for a hundred thousand steps, which is its own story.
      if (name === 'yaml' && count > 20_000) continue;
      const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), String(count), name], {
        encoding: 'utf8',
      });
      process.stdout.write(child.status === 0 ? child.stdout : child.stderr);
    }
  }
} else await measure(Number(first), kind);

async function measure(count, name) {
  const { createPlan, parsePipeline } = await import('@sluice/core');
  const text = pipelineText(count, name);
  const begin = performance.now();
  const used = process.cpuUsage();
  if (name === 'parse only') JSON.parse(text);
  else {
    const parsed = parsePipeline({ file: name === 'yaml' ? 'p.yaml' : 'p.json', text });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error[0]));
    const plan = createPlan(parsed.value.pipeline);
    if (!plan.ok) throw new Error(JSON.stringify(plan.error[0]));
    const cells = plan.value.steps.reduce((sum, step) => sum + step.cells.length, 0);
    if (cells !== count) throw new Error(`planned ${cells} cells instead of ${count}`);
  }
  const ms = performance.now() - begin;
  const cpu = process.cpuUsage(used);
  const peak = process.resourceUsage().maxRSS / 1024;
  const columns = [
    [count, 9],
    [(text.length / 1e6).toFixed(1), 8],
    [ms.toFixed(0), 9],
    [((cpu.user + cpu.system) / 1000).toFixed(0), 9],
    [((ms * 1000) / count).toFixed(1), 9],
    [peak.toFixed(0), 10],
  ];
  console.log(name.padEnd(12) + columns.map(([value, width]) => String(value).padStart(width)).join(''));
}

function pipelineText(count, name) {
  const head = { version: 1, name: 'bench' };
  if (name === 'matrix') {
    const n = Array.from({ length: count }, (_, index) => index);
    return JSON.stringify({
      ...head,
      steps: { all: { matrix: { n }, command: ['work', '${{ matrix.n }}'], outputs: { out: '/out' } } },
    });
  }
  const steps = {};
  for (let index = 0; index < count; index++) {
    steps[`step-${index}`] = {
      command: ['node', 'work.mjs', '--n', String(index)],
      inputs: index === 0 ? {} : { data: `step-${index - 1}.out` },
      outputs: { out: '/out' },
      needs: index > 10 ? [`step-${index - 7}`] : [],
      env: { LEVEL: 'info' },
      timeout: '1h',
    };
  }
  if (name !== 'yaml') return JSON.stringify({ ...head, steps });
  const lines = Object.entries(steps).map(
    ([key, step]) =>
      `  ${key}:\n${Object.entries(step)
        .map(([field, value]) => `    ${field}: ${JSON.stringify(value)}\n`)
        .join('')}`,
  );
  return `version: 1\nname: bench\nsteps:\n${lines.join('')}`;
}
