import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

/** Everything that has a name has one that JavaScript's own objects have, too. */
const FILE = `
version: 1
name: constructor
labels: { constructor: a, toString: b, hasOwnProperty: c, valueOf: d }
params: { constructor: [1, 2], toString: text, hasOwnProperty: { type: object, default: { constructor: 7 } }, valueOf: 3 }
env: { constructor: e, toString: "\${{ params.toString }}", valueOf: v }
secrets: [hasOwnProperty]
volumes: { constructor: { source: ./data } }
pools: { constructor: 1 }
concurrency: { group: "\${{ params.toString }}" }
outputs:
  constructor: { from: valueof.toString, publish: results/constructor }
  toString: constructor.valueOf
  hasOwnProperty: tostring.constructor
steps:
  constructor:
    script: |
      cat /in/toString/file > /out/file
      echo 'two words' > /sluice/results/toString
      echo '[{"constructor": "x", "toString": 1}, {"constructor": "y", "__proto__": 2}]' > /sluice/results/constructor
    secrets: [hasOwnProperty]
    inputs: { toString: volumes.constructor }
    outputs: { valueOf: /out }
    results: { toString: string, constructor: array }
    pools: { constructor: 1 }
    cache: true
  tostring:
    matrix: { constructor: "\${{ params.constructor }}", toString: [a, b], include: [{ valueOf: only }] }
    command: [sh, -c, 'echo "$1 $constructor" > /o/file', sh, "\${{ matrix.constructor }}\${{ params.hasOwnProperty.constructor }}"]
    outputs: { constructor: /o }
    when: \${{ steps.constructor.status == 'succeeded' && steps.constructor.results.toString == 'two words' }}
  hasownproperty:
    foreach: \${{ steps.constructor.results.constructor }}
    script: echo "\${{ item.constructor }}" > /o/file
    outputs: { hasOwnProperty: /o }
  valueof:
    inputs: { constructor: tostring.constructor, valueOf: hasownproperty.hasOwnProperty, toString: constructor.valueOf }
    script: |
      sort /in/valueOf/*/file > /o/file
      cat /in/toString/file >> /o/file
      echo "\${{ steps.constructor.results.toString }} $valueOf \${{ env.toString }}" >> /o/file
    outputs: { toString: /o }
    needs: { tostring: succeeded }
finally:
  isprototypeof: { command: [echo, "\${{ steps.constructor.status }}"] }
`;

describe("a pipeline whose every name is one of JavaScript's own", () => {
  let place: Workplace;

  beforeAll(async () => {
    place = createWorkplace('digits');
    writeFileSync(join(place.directory, 'names.yaml'), FILE);
  });

  afterAll(() => place.remove());

  test.each(['text', '__proto__', 'constructor', 'toString'])(
    'runs in the concurrency group %s',
    async (group) => {
      writeFileSync(join(place.directory, 'data/file'), `of ${group}\n`);
      const env = { SLUICE_SECRET_hasOwnProperty: 'secret-value' };
      const args = ['run', 'names.yaml', '-p', `toString=${group}`, '-p', 'valueOf=4'];
      const run = await place.start(args, { env }).ended;
      expect(run).toMatchObject({ exitCode: 0, stderr: '' });
      expect(place.read('results/constructor/file')).toBe(`x\ny\nof ${group}\ntwo words v ${group}\n`);
    },
    120_000,
  );

  test('is reused, shown, explained and pulled', async () => {
    const env = { SLUICE_SECRET_hasOwnProperty: 'secret-value' };
    const again = await place.start(['run', 'names.yaml', '--reuse'], { env }).ended;
    expect(again).toMatchObject({ exitCode: 0 });
    for (const args of [
      ['plan', 'names.yaml'],
      ['show'],
      ['show', '--json'],
      ['why', 'constructor'],
      ['why', 'hasownproperty'],
      ['logs', 'constructor'],
      ['report', '--to', 'page'],
      ['pull', 'constructor', '--to', 'pulled'],
      ['gc', '--dry-run'],
    ]) {
      const { exitCode, stderr } = await place.start(args, { env }).ended;
      expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' });
    }
  });

  test.each(['constructor', '__proto__', 'toString'])('names that do not exist are not found: %s', async (name) => {
    const param = await place.sluice('run', 'names.yaml', '-p', `${name}x=1`);
    expect(param.exitCode).toBe(2);
    writeFileSync(
      join(place.directory, 'missing.yaml'),
      `version: 1\nname: a\nsteps: { s: { command: [x], inputs: { i: b.${name} }, pools: { constructor: 1 } }, b: { command: [x] } }\n`,
    );
    const { exitCode, stdout, stderr } = await place.sluice('check', 'missing.yaml');
    expect({ exitCode, said: stdout + stderr }).toMatchObject({
      exitCode: 2,
      said: expect.stringContaining('2 errors'),
    });
  });
});
