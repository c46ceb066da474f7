import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HardwareModels } from './engine.ts';

const NVIDIA_DRIVER = '/proc/driver/nvidia';
const ANSWERS_WITHIN_MS = 10_000;

let known: HardwareModels | undefined;

/** The processor model of this machine, read once; empty if the kernel does not name it or processors differ. */
export function cpuModels(): HardwareModels {
  if (known !== undefined) return known;
  const cpu = onlyModel(cpus().map(({ model }) => (model === 'unknown' ? '' : model)));
  known = cpu === undefined ? {} : { cpu };
  return known;
}

/**
 * The model of this machine's graphics cards, from NVIDIA's driver, or from `nvidia-smi` if the driver has no list;
 * undefined if there are none or they differ.
 */
export async function readGpuModel(driver = NVIDIA_DRIVER): Promise<string | undefined> {
  const cards = await readdir(join(driver, 'gpus')).catch(() => undefined);
  if (cards !== undefined && cards.length > 0) {
    const read = cards.map((card) => readFile(join(driver, 'gpus', card, 'information'), 'utf8').catch(() => ''));
    return onlyModel((await Promise.all(read)).map((text) => /^Model:(.*)$/m.exec(text)?.[1] ?? ''));
  }
  const asked = promisify(execFile)('nvidia-smi', ['--query-gpu=name', '--format=csv,noheader'], {
    timeout: ANSWERS_WITHIN_MS,
  });
  return await asked.then(
    ({ stdout }) => onlyModel(stdout.trim().split('\n')),
    () => undefined,
  );
}

/** The model if all are equal; undefined if they differ or one is unknown. */
export function onlyModel(models: readonly string[]): string | undefined {
  const distinct = new Set(models.map((model) => model.trim()));
  const [model] = distinct;
  return distinct.size === 1 && model !== '' ? model : undefined;
}
