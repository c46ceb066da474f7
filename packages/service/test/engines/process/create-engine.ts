import type { Engine } from '../../../src/engines/engine.ts';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';

/** For the process that is killed: settings come through its environment. */
export default function create(): Engine {
  const { SLUICE_TEST_PROCESS_CONFIG } = process.env;
  return createProcessEngine(SLUICE_TEST_PROCESS_CONFIG === undefined ? {} : JSON.parse(SLUICE_TEST_PROCESS_CONFIG));
}
