import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Programs of the image, all of them names of busybox. */
const APPLETS = ['sh', 'echo', 'env', 'cat', 'ls', 'sleep', 'printf'];

/** Makes an image at `path`, with the mount point `/data` and an environment of its own. */
export function makeCharliecloudImage(path: string): void {
  for (const name of ['bin', 'ch', 'data', 'dev', 'etc', 'home', 'proc', 'sys', 'tmp']) {
    mkdirSync(join(path, name), { recursive: true });
  }
  const busybox = execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim();
  copyFileSync(busybox, join(path, 'bin/busybox'));
  for (const name of APPLETS) symlinkSync('busybox', join(path, 'bin', name));
  for (const name of ['passwd', 'group', 'hosts', 'resolv.conf']) writeFileSync(join(path, 'etc', name), '');
  writeFileSync(join(path, 'ch/environment'), 'OF_IMAGE=yes\nPATH=/bin\n');
}
