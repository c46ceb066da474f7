import { EngineError, type Launch } from '../engine.ts';
import { tasksOf } from '../tasks-of.ts';
import type { LaunchRequest } from './launcher.ts';
import { planMounts } from './mount-plan.ts';
import { tasksCommand } from './tasks-command.ts';

/** Working directory and `HOME`: the private `/tmp`, the only place that is always writable. */
const home = '/tmp';

/** Resolves a launch into a request. Throws `EngineError` `REJECTED` for what this engine cannot do. */
export function resolveRequest(launch: Launch, id: string): LaunchRequest {
  if (launch.image !== undefined) {
    throw rejection(
      `could not run the image '${launch.image}': the process engine runs commands of this machine; leave 'image' out (as sluice run --ignore-images does), or use a cluster with the docker engine`,
    );
  }
  if (launch.command.length === 0)
    throw rejection("could not run a container without 'command': the process engine has no image to take it from");
  if (launch.limits.gpus > 0)
    throw rejection(`could not give ${launch.limits.gpus} GPUs: the process engine does not assign GPUs`);
  const tasks = tasksOf(launch);
  const started = tasks.count > 1 ? tasksCommand(launch, tasks) : { argv: launch.command, env: {} };
  const env = Object.entries({ ...ownEnvironment(), ...launch.env, ...started.env }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const request: LaunchRequest = {
    id,
    key: launch.key,
    directory: launch.directory,
    logPath: launch.logPath,
    logLimitBytes: launch.logLimitBytes ?? 0,
    workingDirectory: home,
    milliCores: Math.round(launch.limits.cores * 1000),
    memoryBytes: launch.limits.memoryBytes,
    mounts: planMounts(launch.mounts),
    argv: started.argv,
    env,
  };
  checkNoNul([
    ...request.argv,
    ...env,
    ...request.mounts.flatMap((mount) => [mount.root, mount.subPath, mount.target]),
  ]);
  return request;
}

/** The only variables from the service's environment; the others may be secret. */
function ownEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin', HOME: home, LANG: process.env.LANG ?? 'C.UTF-8' };
}

function checkNoNul(strings: readonly string[]): void {
  const bad = strings.find((text) => text.includes('\0'));
  if (bad !== undefined)
    throw rejection(`could not start the container: ${JSON.stringify(bad.slice(0, 80))} holds a NUL byte`);
}

function rejection(message: string): EngineError {
  return new EngineError('REJECTED', message);
}
