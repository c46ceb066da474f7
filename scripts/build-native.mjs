// Compiles the native programs for this checkout, with the C compiler that is there. Without a compiler the engines do the
// same by other means, hence nothing here fails the build.
import { join } from 'node:path';
import { compileProgram, NATIVE, PROGRAMS } from './native-programs.mjs';

/** Static first: it starts faster and needs nothing; some distributions ship no static C library. */
const LINKINGS = {
  launcher: [['-static'], []],
  // It runs in images that may hold no C library at all.
  'first-process': [['-static', '-s']],
};

if (process.platform === 'linux') {
  for (const { name, fallback } of PROGRAMS) {
    const reason = compileProgram(name, {
      target: join(NATIVE, 'build', name),
      arch: process.arch,
      compiler: process.env.CC ?? 'cc',
      linkings: LINKINGS[name],
    });
    if (reason !== undefined) console.warn(`note: ${name} was not compiled, ${fallback}: ${reason}`);
  }
}
