import { EngineError, type Launch } from '../engine.ts';
import type { SlurmConfig } from './slurm-config.ts';

/** Throws `EngineError` for what the cluster's runtime cannot run, with the way out. */
export function checkRuntime(launch: Launch, config: SlurmConfig): void {
  if (config.runtime === 'none' && launch.image !== undefined) {
    throw new EngineError(
      'REFUSED',
      `image ${launch.image} cannot be run: this cluster has no container runtime; leave the image out, use a cluster with docker, or set this cluster's runtime to podman, apptainer or charliecloud`,
    );
  }
  if (config.runtime !== 'none' && launch.image === undefined) {
    throw new EngineError('REFUSED', `a container on this cluster needs an image, which ${config.runtime} runs`);
  }
  if (launch.image?.startsWith('-')) {
    throw new EngineError('REFUSED', `image ${launch.image} cannot be run: ${config.runtime} takes it for an option`);
  }
  if (config.runtime === 'none' && launch.command.length === 0) {
    throw new EngineError('REFUSED', 'a container without an image needs a command');
  }
  if (config.runtime === 'charliecloud' && launch.command.length === 0) {
    throw new EngineError(
      'REFUSED',
      'a container on this cluster needs a command: charliecloud knows none of an image',
    );
  }
}
