import type { Rig } from './rig.ts';
import { createProcess, type SimulatedProcess } from './simulated-process.ts';

/** A process of the rig's world that dies right after its operation with that number, counted from 1. */
export function killedAfter({ clock, disk, options }: Rig, operation: number): SimulatedProcess {
  const process: SimulatedProcess = createProcess({
    clock,
    disk,
    service: options.service,
    onOperation: (number, when) => {
      if (number === operation && when === 'after') process.kill();
    },
  });
  return process;
}
