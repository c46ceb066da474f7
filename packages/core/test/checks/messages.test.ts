import { expect, it } from 'vitest';
import { parsePipeline } from '../../src/index.ts';

/** Message and hint of the first thing that is said of a pipeline whose step `s` has these lines. */
function said(step: string, beside = ''): string {
  const text = `version: 1\nname: a\n${beside}steps:\n  s:\n${step.replace(/^/gm, '    ')}\n`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  const [first] = parsed.ok ? parsed.value.warnings : parsed.error.filter(({ severity }) => severity === 'error');
  return first === undefined ? '' : `${first.message}${first.hint === undefined ? '' : ` | ${first.hint}`}`;
}

const X = 'command: [x]\n';
const when = (source: string) => `${X}when: \${{ ${source} }}`;

it.each([
  [
    `${X}matrix: { p: [1] }\nenv: { A: "n={{ matrix.p }}" }`,
    /^`\{\{ matrix\.p \}\}` is plain text here \| .*\$\{\{ … \}\}$/,
  ],
  ['script: echo {{ item }}', /is plain text here/],
  [`command: [docker, inspect, --format, "{{ .State }}"]`, /^$/],
  [`${X}env: { A: 010 }`, /\| put it in quotes, letter by letter as it stands here$/],
  ['script: echo ${{ env.LEVEL }} ${{ env.X }}\nenv: { LEVEL: b }', /no environment variable `X` \| there is `LEVEL`$/],
  ['command: ["python train.py --n 3"]', /names one program, .* \| .*write \[python, train.py, --n, 3\]/],
  [`${X}continueOnError: yes`, /\| write continueOnError: true$/],
  [`${X}continueOnError: "off"`, /\| write continueOnError: false$/],
  [`${X}retry: { on: failed }`, /\| write a list: on: \[failed\]$/],
  [`${X}results: { r: float }`, /\| here it is `number`$/],
  [`${X}cpus: 2`, /unknown key `cpus` .* \| here it is `resources: \{ cpu: … \}`$/],
  [`${X}gpus: 2`, /unknown key `gpus` .* \| here it is `resources: \{ gpu: … \}`$/],
  [when('true and false'), /`and` is no operator; write `&&`/],
  [when('true or false'), /`or` is no operator; write `\|\|`/],
  [when('not true'), /`not` is no operator; write `!`/],
  [when("'a and b' = 'c'"), /`=` is no operator; write `==` to compare/],
  [when('len([1]) > 1'), /there is no function `len`; write size\(value\)/],
  [when("contains('ab', 'a')"), /`contains` is a method; write text\.contains\(part\)/],
  [when("1 + 'a' == 2"), /`\+` does not take int and string; convert one/],
  [when('True'), /\| write true$/],
  ['command: [x]\ndescription: a: b', /a text with `: ` in it reads as a map; put the whole text in quotes/],
  ['command: [x]\nimage: "a', /a text in quotes has no closing "/],
  ['command: ["a" "b"]', /a comma is missing between two items in brackets/],
  ['command: "a" b', /there is text behind the end of a value; put the whole value in quotes/],
  ['command: [x\nimage: a', /bracket|comma/],
  ['command: [x]\nimage: @a', /a text that begins with .* needs quotes/],
])('%j is answered with what to write', (step, answer) => {
  expect(said(step)).toMatch(answer);
});

it('a key that is indented differently, and a tab, are told as such', () => {
  const text = 'version: 1\nname: a\nsteps:\n  s:\n    command: [x]\n   env: {A: b}\n';
  const parsed = parsePipeline({ file: 'p.yaml', text });
  expect(parsed.ok ? [] : parsed.error.map(({ message }) => message)[0]).toMatch(
    /begin all keys of one map in the same column/,
  );
  const tabs = parsePipeline({ file: 'p.yaml', text: 'version: 1\nsteps:\n\ts: {}\n' });
  expect(tabs.ok ? [] : tabs.error.map(({ message }) => message)[0]).toMatch(
    /cannot be indented with tabs; use blanks/,
  );
});

it('a volume or a step that is named alone is told with its whole name', () => {
  expect(said(`${X}inputs: { c: code }`, 'volumes: { code: { source: . } }\n')).toMatch(
    /\| did you mean `volumes\.code`\?$/,
  );
  expect(said(`${X}inputs: { c: code/sub }`, 'volumes: { code: { source: . } }\n')).toMatch(/`volumes\.code\/sub`\?$/);
});

it('a type of another system in `params` is told as ours', () => {
  expect(said(X, 'params: { p: { type: float } }\n')).toMatch(/\| here it is `number`$/);
});
