// The program of an allocation's job (`slurm-agent.ts`): `agent-main DIRECTORY`. Ends with 0 when nothing is left to do.
import { readFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { exists } from '../exists.ts';
import { createProcessEngine } from '../process/process-engine.ts';
import { Agent } from './agent.ts';
import { agentSettingsSchema } from './agent-settings.ts';
import { SETTINGS, TOLD } from './allocation-files.ts';
import { NodeGpus } from './node-gpus.ts';

const [directory = '/'] = process.argv.slice(2);
const settings = agentSettingsSchema.parse(JSON.parse(await readFile(join(directory, SETTINGS), 'utf8')));
const { maskedPaths, ...times } = settings;
const { SLURM_CPUS_ON_NODE, SLURM_MEM_PER_NODE } = process.env;
const gpus = new NodeGpus(process.env);
const agent = new Agent({
  engine: createProcessEngine({}, { maskedPaths }),
  directory,
  gpus,
  capacity: {
    gpus: gpus.count,
    cores: Number(SLURM_CPUS_ON_NODE) || availableParallelism(),
    memoryBytes: Number(SLURM_MEM_PER_NODE) * 2 ** 20 || totalmem(),
  },
  ...times,
});
if (await exists(join(directory, TOLD))) agent.leave('Slurm has ended the job');
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => agent.leave('Slurm has ended the job'));
await agent.run();
