import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cpuModels, readGpuModel } from '../../src/engines/machine-models.ts';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';

/** As the file of each card begins, seen with driver 535. */
const CARD = `Model: \t\t NVIDIA A100-SXM4-40GB
IRQ:   \t\t 45
GPU UUID: \t GPU-3b8a5c2e-0000-0000-0000-000000000000
Video BIOS: \t 92.00.45.00.03
`;

async function makeDriver(cards: Readonly<Record<string, string>>): Promise<string> {
  const driver = await mkdtemp(join(tmpdir(), 'sluice-driver-'));
  onTestFinished(() => rm(driver, { recursive: true }));
  for (const [card, text] of Object.entries(cards)) {
    await mkdir(join(driver, 'gpus', card), { recursive: true });
    await writeFile(join(driver, 'gpus', card, 'information'), text);
  }
  return driver;
}

test('readGpuModel gives the model that all cards have', async () => {
  expect(await readGpuModel(await makeDriver({ '0000:07:00.0': CARD, '0000:0b:00.0': CARD }))).toBe(
    'NVIDIA A100-SXM4-40GB',
  );
  const other = CARD.replace('A100-SXM4-40GB', 'T4');
  expect(await readGpuModel(await makeDriver({ '0000:07:00.0': CARD, '0000:0b:00.0': other }))).toBeUndefined();
});

test('cpuModels gives the name that the kernel gives every processor', async () => {
  const names = (await readFile('/proc/cpuinfo', 'utf8')).matchAll(/^model name\s*:(.*)$/gm);
  const distinct = new Set([...names].map(([, name = '']) => name.trim()));
  expect(cpuModels().cpu).toBe(distinct.size === 1 ? [...distinct][0] : undefined);
});

test('an instance type has the model of its machine, unless the configuration names another', async () => {
  const instanceTypes = [
    { id: 'plain', cpu: 1, memory: '1GB' },
    { id: 'named', cpu: 1, memory: '1GB', gpu: 1, cpuModel: 'Some CPU', gpuModel: 'Some GPU' },
  ];
  const clusters = [{ id: SCOPE.clusterID, engine: 'process', accounts: [SCOPE.accountID], instanceTypes }];
  const rig = await openRig({ config: { clusters } });
  onTestFinished(() => rig.close());
  const found = await rig.service.inProcess(PRINCIPAL).discovery.listInstanceTypes(SCOPE.clusterID);
  expect(found).toMatchObject([
    { id: 'plain', cpu: { cores: 1, model: cpuModels().cpu ?? 'generic' }, gpu: { count: 0, model: '' } },
    { id: 'named', cpu: { cores: 1, model: 'Some CPU' }, gpu: { count: 1, model: 'Some GPU' } },
  ]);
});
