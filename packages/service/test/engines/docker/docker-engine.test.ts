import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { describeEngine } from '../describe-engine.ts';
import create from './create-engine.ts';

const image = process.env.SLUICE_TEST_DOCKER_IMAGE;

describe.skipIf(image === undefined && process.env.CI !== 'true')('on a real daemon', () => {
  describeEngine('docker', create, {
    image: image ?? 'SLUICE_TEST_DOCKER_IMAGE is not set',
    module: fileURLToPath(new URL('./create-engine.ts', import.meta.url)),
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
