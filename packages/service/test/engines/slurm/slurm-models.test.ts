import { expect, it } from 'vitest';
import { slurmModels } from '../../../src/engines/slurm/slurm-models.ts';

/** As `sinfo` of Slurm 22.05 prints it. */
const NODES = `main*|head|(null)
cards|node1|gpu:a100:4(S:0-1),mps:400
cards|node2|gpu:a100:2
mixed|node3|gpu:a100:4
mixed|node4|gpu:2080ti:8(S:0)
plain|node5|gpu:2
`;
const OWN = { hostname: 'head.example.org', models: { cpu: 'Some CPU' } };

it.each([
  [undefined, { cpu: 'Some CPU' }],
  ['main', { cpu: 'Some CPU' }],
  ['cards', { gpu: 'a100' }],
  ['main,cards', { gpu: 'a100' }],
  ['mixed', {}],
  ['plain', {}],
  ['absent', {}],
])('slurmModels of partition %j is %j', (partition, models) => {
  expect(slurmModels(NODES, partition, OWN)).toEqual(models);
});
