import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** What the compiler says of the library; undefined until its declarations are built. */
let declarations: string | undefined;

/**
 * Compiles programs that import `sluice`, by file name, as strictly as users may, and returns the compiler's messages. As for
 * users, the types come from the declarations, which are built before: to check all sources would take ten times as long.
 */
export function compile(programs: Readonly<Record<string, string>>): string {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  // Beside the workspace's packages, so that `sluice` is found.
  const directory = mkdtempSync(join(ROOT, '.cache/programs-'));
  try {
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(directory, name), text);
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      noEmit: true,
      skipLibCheck: true,
    };
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
    declarations ??= tsc(ROOT, '--build', 'packages/cli');
    return declarations === '' ? tsc(directory) : declarations;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function tsc(cwd: string, ...args: string[]): string {
  const program = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout, error } = spawnSync(process.execPath, [program, ...args, '--pretty', 'false'], {
    ...{ cwd, encoding: 'utf8' },
  });
  if (error !== undefined) throw error;
  return stdout.trim();
}
