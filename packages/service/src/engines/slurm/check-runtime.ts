import { EngineError, type Launch } from '../engine.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { mountSource } from './slurm-runtimes.ts';

/** Characters that separate the parts of a mount option: in a path, they could add an option or a directory of the host. */
const SEPARATORS: Readonly<Record<SlurmConfig['runtime'], string>> = {
  none: '',
  podman: ':',
  apptainer: ':,',
  charliecloud: ':',
};

/** How a cluster runs containers. `withoutImage`: default `reject`. */
export type RuntimeRules = Pick<SlurmConfig, 'runtime'> & Partial<Pick<SlurmConfig, 'withoutImage'>>;

/** What runs the container: without an image none, on the file system of the node. */
export function runtimeOf(launch: Pick<Launch, 'image'>, { runtime }: RuntimeRules): SlurmConfig['runtime'] {
  return launch.image === undefined ? 'none' : runtime;
}

/** Throws `EngineError` `REJECTED`, with advice, for a launch that the cluster cannot run. */
export function checkRuntime(launch: Pick<Launch, 'image' | 'command' | 'mounts'>, config: RuntimeRules): void {
  if (config.runtime === 'none' && launch.image !== undefined) {
    throw new EngineError(
      'REJECTED',
      `image ${launch.image} cannot be run: this cluster has no container runtime; leave the image out, use a cluster with docker, or set this cluster's runtime to podman, apptainer or charliecloud`,
    );
  }
  const runtime = runtimeOf(launch, config);
  if (config.runtime !== runtime && config.withoutImage !== 'node') {
    throw new EngineError(
      'REJECTED',
      `a container on this cluster needs an image, which ${config.runtime} runs; set an image, or the cluster's option \`withoutImage: node\``,
    );
  }
  if (launch.image?.startsWith('-')) {
    throw new EngineError('REJECTED', `image ${launch.image} cannot be run: ${runtime} takes it for an option`);
  }
  if (runtime === 'none' && launch.command.length === 0) {
    throw new EngineError('REJECTED', 'a container without an image needs a command');
  }
  if (runtime === 'charliecloud' && launch.command.length === 0) {
    throw new EngineError(
      'REJECTED',
      'a container on this cluster needs a command: charliecloud knows none of an image',
    );
  }
  for (const mount of launch.mounts) {
    for (const path of [mountSource(mount), mount.target]) {
      const found = [...SEPARATORS[runtime]].find((separator) => path.includes(separator));
      if (found === undefined) continue;
      const why = `${runtime} takes no '${found}' in the path of a mount`;
      throw new EngineError('REJECTED', `'${mount.subPath || mount.target}' cannot be mounted: ${why}`);
    }
  }
}
