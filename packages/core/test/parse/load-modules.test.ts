import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { choosesPipefail } from '../../src/parse/default-shell.ts';
import { loadModules } from '../../src/parse/load-modules.ts';
import { parsePipeline } from '../../src/parse/parse-pipeline.ts';

describe('loadModules', () => {
  test('runs nothing without environment modules, and says so', () => {
    const [program = '', flag = '', script = '', ...rest] = loadModules(['dot'], ['echo', 'started']);
    const without = script.replace('/etc/profile', '/nonexistent');
    const { stdout, stderr, status } = spawnSync(program, [flag, without, ...rest], { encoding: 'utf8' });
    expect({ stdout, status }).toEqual({ stdout: '', status: 127 });
    expect(stderr).toContain('there are no environment modules here');
  });

  test('is the command of a step with modules, which still chooses its shell', () => {
    const text = 'version: 1\nname: demo\nsteps: { fit: { modules: gcc/13, script: "cat a | sort" } }\n';
    const parsed = parsePipeline({ text, file: 'pipeline.yaml' });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const { command = [] } = parsed.value.pipeline.steps[0]!;
    expect(command.slice(3, 6)).toEqual(['sh', 'gcc/13', '--']);
    expect(choosesPipefail(command)).toBe(true);
  });
});
