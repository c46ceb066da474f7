import { constants } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectories } from '@sluice/host-system';
import { markCreatedHere } from './created-here.ts';

/** Creates the home if necessary, accessible only by its owner and ignored by git. Throws if it is not writable. */
export async function makeHome(home: string): Promise<void> {
  if ((await makeDirectories(home, 0o700)) !== undefined) await writeFile(join(home, '.gitignore'), '*\n');
  await markCreatedHere(home);
  await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
}
