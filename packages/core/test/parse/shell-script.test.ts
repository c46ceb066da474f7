import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellScript } from '../../src/parse/shell-script.ts';

/** What a script says, each expression having this value. */
function run(script: string, value: string): string {
  const { command, env } = shellScript(script, ['sh', '-eu']);
  const [program = '', ...args] = command;
  const values = Object.fromEntries(Object.keys(env).map((name) => [name, value]));
  return execFileSync(program, args, { env: { PATH: process.env.PATH ?? '', ...values }, encoding: 'utf8' });
}

const NASTY = `a  b $HOME "c" 'd' \`e\` $(f) \\ * ; #`;

describe('shellScript', () => {
  it.each([
    ['in plain code', 'printf %s ${{ x }}', ''],
    ['in double quotes', 'printf %s "<${{ x }}>"', '<>'],
    ['in single quotes', "printf %s '<${{ x }}>'", '<>'],
    ['in a substitution', 'printf %s $(printf %s. ${{ x }})', undefined],
    ['in a substitution in quotes', 'printf %s "<$(printf %s. ${{ x }})>"', '<.>'],
    ['in quotes of a substitution in quotes', 'printf %s "<$(printf %s. "${{ x }}")>"', '<.>'],
    ['in backquotes', 'printf %s "<`printf %s. ${{ x }}`>"', '<.>'],
    ['in a group', '( printf %s ${{ x }} )', ''],
    ['behind a comment with a quote', "# don't\nprintf %s ${{ x }}", ''],
    ['behind an escaped quote', 'printf %s \\"${{ x }}', '"'],
    ['behind a length that looks like a comment', 'y=ab; test ${#y} = 2 && printf %s ${{ x }}', ''],
    ['in a here-document', 'cat <<END\n<${{ x }}>\nEND\n', '<>\n'],
    ['in the second of two here-documents', 'cat <<A <<-B\nx\nA\n<${{ x }}>\n\tB\n', '<>\n'],
    ['behind a here-document', "cat <<'END' >/dev/null\nit's\nEND\nprintf %s ${{ x }}", ''],
    ['behind a shift', 'y=$((1 << 2)); printf %s ${{ x }}', ''],
  ])('shellScript keeps a value one word and never runs it: %s', (_, script, around) => {
    const said = run(script, NASTY);
    if (around === undefined) expect(said).not.toContain('/');
    else
      expect(said).toBe(around.length === 0 ? NASTY : around.replace(/^(["<]?)/, `$1${NASTY.replaceAll('$', '$$$$')}`));
  });

  it('shellScript lets values be counted with', () => {
    expect(run('echo $(( ${{ x }} * (${{ x }} + 1) ))', '6')).toBe('42\n');
  });

  it('shellScript tells of an expression where the shell puts no value', () => {
    expect(shellScript("cat <<'E'\n${{ x }}\nE\n", ['sh']).unreachable).toBe(true);
    expect(shellScript("cat <<'E'\nx\nE\necho ${{ x }}", ['sh']).unreachable).toBeUndefined();
  });

  it('shellScript reads a script of many expressions once', () => {
    const { env } = shellScript('echo ${{ x }} "${{ x }}"\n'.repeat(20_000), ['sh']);
    expect(Object.keys(env)).toHaveLength(40_000);
  });
});
