import { fileURLToPath } from 'node:url';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { describeEngine } from '../describe-engine.ts';

const launcherPath = fileURLToPath(new URL('../../../native/build/launcher', import.meta.url));

describeEngine('process', () => createProcessEngine(), {
  module: fileURLToPath(new URL('./create-engine.ts', import.meta.url)),
  environment: { SLUICE_TEST_PROCESS_CONFIG: JSON.stringify({ launcherPath }) },
  ordersStreams: true,
  keepsBytes: true,
  memoryLimit: 'tree',
  coreLimit: true,
  hostRoot: true,
  refusesMissingCommand: true,
  holdsSwappedLinks: true,
});
