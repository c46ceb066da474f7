import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Values of `e_machine` in the header of an ELF file. */
const MACHINES = { x64: 62, arm64: 183 };
const PROGRAM_INTERPRETER = 3;
const CROSS_COMPILERS = { x64: 'x86_64-linux-gnu-gcc', arm64: 'aarch64-linux-gnu-gcc' };
const EMULATORS = { x64: 'qemu-x86_64', arm64: 'qemu-aarch64' };

describe.each(['x64', 'arm64'] as const)('the programs of @sluice/launcher-linux-%s', (arch) => {
  const isOwn = arch === process.arch;
  const compiler = isOwn ? (process.env.CC ?? 'cc') : CROSS_COMPILERS[arch];
  const canCompile = isNeeded(arch) || works(compiler);
  const emulator = isOwn ? [] : [EMULATORS[arch]];
  const canRun = canCompile && (isOwn || isNeeded(arch) || works(EMULATORS[arch]));
  const program = (name: string) => join(ROOT, 'launchers', `linux-${arch}`, 'bin', name);

  beforeAll(() => {
    const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts/build-launchers.mjs')]);
    expect(status).toBe(0);
  });

  test.runIf(canCompile).each(['launcher', 'first-process'])('%s is static and for this processor', (name) => {
    const elf = readFileSync(program(name));
    expect(elf.readUInt16LE(18)).toBe(MACHINES[arch]);
    expect(segmentTypes(elf)).not.toContain(PROGRAM_INTERPRETER);
  });

  // qemu-user has neither the system calls that mount file systems nor ptrace: there the launcher gets as far as its check
  // of the machine and says why it cannot work.
  test.runIf(canRun).each(['namespaces', 'translation'])(
    'launcher checks the machine for %s and answers',
    (mountsBy) => {
      const [command = '', ...args] = [...emulator, program('launcher'), mountsBy, 'test'];
      const { stdout, status } = spawnSync(command, args, { input: '', encoding: 'utf8' });
      expect(stdout).toMatch(isOwn ? /^(ready|failed) \S/ : /^failed could not \S/);
      expect(status).toBe(stdout.startsWith('ready') ? 0 : 1);
    },
  );

  test.runIf(canRun)('first-process does not start without its record', () => {
    const [command = '', ...args] = [...emulator, program('first-process'), '--', 'true'];
    expect(spawnSync(command, args, { input: '' }).status).toBe(125);
  });
});

/** Where CI runs on x64, it has a compiler and an emulator for the other processor. */
function isNeeded(arch: string): boolean {
  return process.env.CI === 'true' && (arch === process.arch || process.arch === 'x64');
}

function works(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

/** Types of the program headers of a 64-bit little-endian ELF file. */
function segmentTypes(elf: Buffer): number[] {
  const start = Number(elf.readBigUInt64LE(32));
  const [size, count] = [elf.readUInt16LE(54), elf.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => elf.readUInt32LE(start + index * size));
}
