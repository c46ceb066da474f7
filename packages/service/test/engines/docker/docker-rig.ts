import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { EngineRig } from '../engine-rig.ts';
import create from './create-engine.ts';

const {
  SLUICE_TEST_DOCKER_SOCKET: socketPath,
  SLUICE_TEST_DOCKER_STATE: state,
  SLUICE_TEST_DOCKER_IMAGE: image,
} = process.env;

/** Whether `.ci/start-docker.sh` has started a daemon; in CI its absence is a failure, elsewhere a visible skip. */
export const hasDocker = socketPath !== undefined;

export function dockerRig(): EngineRig {
  return new EngineRig(create, {
    ...(image === undefined ? {} : { image }),
    module: '',
    ordersStreams: true,
    keepsBytes: true,
    memoryLimit: 'tree',
    coreLimit: true,
    hostRoot: false,
    hidesInit: false,
    refusesMissingCommand: true,
    holdsSwappedLinks: true,
  });
}

/** A call to the daemon past the engine, as a person at the machine may make it; gives the status. */
export async function daemon(method: 'GET' | 'POST' | 'DELETE', path: string): Promise<number> {
  const pool = new Pool('http://localhost', { socketPath: socketPath ?? '' });
  try {
    const { statusCode, body } = await pool.request({ method, path });
    await body.dump();
    return statusCode;
  } finally {
    await pool.close();
  }
}

/** Ends the daemon as a crash does and starts it again with the very arguments that it had. */
export async function restartDaemon(): Promise<void> {
  const pid = Number(readFileSync(`${state}/docker.pid`, 'utf8'));
  const [command = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  process.kill(pid, 'SIGKILL');
  const log = openSync(`${state}/dockerd.log`, 'a');
  for (let tries = 0; tries < 150; tries++) {
    // A daemon that finds the old one's remains gives up; the next one finds them gone.
    if (tries % 50 === 0) spawn(command, args, { detached: true, stdio: ['ignore', log, log] }).unref();
    await pause(200);
    if ((await daemon('GET', '/_ping').catch(() => 0)) === 200) return;
  }
  throw new Error('could not see the daemon answer again within 30 s');
}
