// The program of an allocation's job on each of its nodes (`slurm-agent.ts`): `agent-main DIRECTORY NUMBER`, with the directory
// of the allocation and the number of the node. Ends with 0 when nothing is left to do.
import { readFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { exists } from '../exists.ts';
import { Agent } from './agent.ts';
import { agentSettingsSchema } from './agent-settings.ts';
import { SETTINGS, TOLD } from './allocation-files.ts';
import { IdleNodes } from './idle-nodes.ts';
import { nodeDirectories } from './node-directories.ts';
import { createNodeEngine } from './node-engine.ts';
import { NodeGpus } from './node-gpus.ts';

const [ofAllocation = '/', number = '0'] = process.argv.slice(2);
const settings = agentSettingsSchema.parse(JSON.parse(await readFile(join(ofAllocation, SETTINGS), 'utf8')));
const { nodes, timeLimitMs, graceMs, idleMs } = settings;
const directories = nodeDirectories(ofAllocation, nodes);
const directory = directories[Number(number)]!;
const { SLURM_CPUS_ON_NODE, SLURM_MEM_PER_NODE } = process.env;
const gpus = new NodeGpus(process.env);
const agent = new Agent({
  ...createNodeEngine(settings),
  directory,
  idle: new IdleNodes(directory, directories),
  gpus,
  capacity: {
    gpus: gpus.count,
    cores: Number(SLURM_CPUS_ON_NODE) || availableParallelism(),
    memoryBytes: Number(SLURM_MEM_PER_NODE) * 2 ** 20 || totalmem(),
  },
  ...{ timeLimitMs, graceMs, idleMs },
});
if (await exists(join(directory, TOLD))) agent.leave('Slurm has ended the job');
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => agent.leave('Slurm has ended the job'));
await agent.run();
