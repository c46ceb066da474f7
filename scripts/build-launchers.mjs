// Usage: node scripts/build-launchers.mjs [--all]   Compiles the native programs, static and stripped, into the packages of
// `launchers` that this machine has a compiler for. With --all a missing compiler is an error: a release needs every package.
import { join } from 'node:path';
import { compileProgram, PROGRAMS } from './native-programs.mjs';
import { ROOT } from './workspace.mjs';
import { listPublishedPackages } from './workspace-packages.mjs';

const CROSS_COMPILERS = { x64: 'x86_64-linux-gnu-gcc', arm64: 'aarch64-linux-gnu-gcc' };
const isAll = process.argv.includes('--all');

for (const { directory, manifest } of listPublishedPackages(ROOT)) {
  if (!directory.startsWith('launchers/')) continue;
  const [arch] = manifest.cpu;
  const compiler = arch === process.arch ? (process.env.CC ?? 'cc') : CROSS_COMPILERS[arch];
  for (const { name } of PROGRAMS) {
    const target = join(ROOT, directory, 'bin', name);
    const reason = compileProgram(name, { target, arch, compiler, linkings: [['-static', '-s']] });
    if (reason === undefined) continue;
    console.error(`could not compile ${name} for ${manifest.name}: ${reason}`);
    if (isAll) process.exitCode = 1;
  }
}
