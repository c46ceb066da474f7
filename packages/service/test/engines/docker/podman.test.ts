import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { describeEngine } from '../describe-engine.ts';
import create from './create-podman-engine.ts';

const { SLUICE_TEST_PODMAN_SOCKET: socketPath, SLUICE_TEST_DOCKER_IMAGE: image } = process.env;

describe.skipIf(socketPath === undefined && process.env.CI !== 'true')('on the socket of Podman', () => {
  describeEngine('docker, with Podman behind', create, {
    image: image ?? 'SLUICE_TEST_DOCKER_IMAGE is not set',
    module: fileURLToPath(new URL('./create-podman-engine.ts', import.meta.url)),
    ordersStreams: true,
    keepsBytes: true,
    memoryLimit: 'tree',
    coreLimit: true,
    hostRoot: false,
    hidesInit: false,
    refusesMissingCommand: true,
    holdsSwappedLinks: true,
  });
});
