import type { Container } from '@sluice/client';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

/** A rig whose step `make` writes a file. Sources are read from real files, so time is real; the collection's own clock is set. */
export function createGcRig(): Rig {
  const rig: Rig = createRig('gc', {
    realTime: true,
    behave: {
      make: {
        pendingMs: 1,
        runMs: 1,
        work: (container: Container) => {
          for (const key of Object.keys(container.volumeMounts ?? {})) {
            const [volume = '', at = '', option] = key.split(':');
            if (option === 'dir') writeFile(rig.simulated.volumes.get(volume)!, `${at}/file`, Buffer.from('12345'));
          }
        },
      },
    },
  });
  return rig;
}
