import { realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { findMount } from '@sluice/host-system';
import { EngineError } from '../engines/engine.ts';
import { judgeStorage } from '../engines/slurm/shared-storage.ts';
import { createSlurmCommands } from '../engines/slurm/slurm-commands.ts';
import { SLURM_OPTIONS } from '../engines/slurm/slurm-config.ts';
import { deriveInstanceTypes } from '../engines/slurm/slurm-instance-types.ts';
import { NODE_ARGUMENTS, nodesIn, parseNodes, type SlurmNode, shortName } from '../engines/slurm/slurm-models.ts';
import { parseUserOptions, type UserOptions } from '../engines/slurm/user-options.ts';
import { type ServiceConfig, serviceConfigSchema } from './service-config.ts';

/** The only cluster and account of an embedded service that runs jobs of Slurm. */
const SCOPE = { clusterID: 'slurm', accountID: 'local' } as const;

/** An embedded service with the engine `slurm`. */
export interface EmbeddedSlurm {
  readonly config: ServiceConfig;
  /** For the user: what may be wrong with the storage. */
  readonly warnings: readonly string[];
}

/**
 * The configuration of a service whose containers are jobs of this user: cluster `slurm`, account `local`, and instance types
 * derived from the nodes of the partition. `options` are those of the engine, unchecked; steps may set all that Slurm lets
 * the user set. Throws an error for the user if an option is wrong, if Slurm does not answer, or if no node can see `root`,
 * which need not exist yet.
 */
export async function embeddedSlurmConfig({
  root,
  options,
}: {
  readonly root: string;
  readonly options: Readonly<Record<string, unknown>>;
}): Promise<EmbeddedSlurm> {
  const nodes = await readNodes(parseUserOptions(options));
  const warnings = await checkStorage(root, nodes);
  const config = serviceConfigSchema.parse({
    root,
    clusters: [
      {
        id: SCOPE.clusterID,
        engine: 'slurm',
        options: { allow: SLURM_OPTIONS, withoutImage: 'node', ...options },
        accounts: [SCOPE.accountID],
        instanceTypes: deriveInstanceTypes(nodes),
      },
    ],
  });
  return { config, warnings };
}

async function readNodes({ partition, confPath }: Pick<UserOptions, 'partition' | 'confPath'>) {
  const text = await createSlurmCommands(confPath)
    .run('sinfo', NODE_ARGUMENTS)
    .catch((error: unknown) => {
      if (error instanceof EngineError) throw error;
      throw new Error(`Slurm does not answer: ${(error as Error).message}`, { cause: error });
    });
  const nodes = nodesIn(text, partition);
  if (nodes.length > 0) return nodes;
  const names = [...new Set(parseNodes(text).map((node) => node.partition))].sort().join(', ') || 'none';
  const what = partition === undefined ? 'no default partition' : `no partition ${partition} with nodes`;
  throw new Error(`Slurm has ${what}: set 'partition' in the options of the profile; there are: ${names}`);
}

/** Warnings for the user about the storage of these nodes. Throws an error for the user if no node can see `root`. */
export async function checkStorage(
  root: string,
  nodes: readonly Pick<SlurmNode, 'host'>[],
): Promise<readonly string[]> {
  const own = shortName(hostname());
  const path = await realpath(root).catch(() => undefined);
  if (path === undefined) return [];
  const isOneMachine = nodes.every(({ host }) => shortName(host) === own);
  const { fault, warnings } = judgeStorage({ path, mount: findMount(path), isOneMachine });
  if (fault !== undefined) throw new Error(`could not use ${root} for jobs of Slurm: ${fault}`);
  return warnings;
}
