import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Ended, type Workplace } from './workplace-rig.ts';

const FILE = `version: 1
name: a
steps:
  first: { command: [sh, -c, "echo made > /out/x"], outputs: { o: /out } }
  fit: { image: "alpine:3", command: [cat, /in/o/x], inputs: { o: first.o } }
`;
let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'p.yaml'), FILE);
});

afterEach(() => place.remove());

/** Where no container engine answers. */
function sluice(...args: string[]): Promise<Ended> {
  return place.start(args, { env: { DOCKER_HOST: 'unix:///nowhere/docker.sock' } }).ended;
}

test('`plan` and `run` reject an image where no container engine answers, before anything starts', async () => {
  for (const verb of ['plan', 'run']) {
    const { exitCode, stderr } = await sluice(verb, 'p.yaml');
    expect({ verb, exitCode }).toEqual({ verb, exitCode: 2 });
    expect(stderr).toContain('could not run the image of step fit: neither Docker nor Podman answers on this machine');
    expect(stderr).toContain('--ignore-images');
  }
  expect(await place.runs()).toEqual([]);
});

test('--ignore-images runs the same file with the programs of this machine, and warns once', async () => {
  const { exitCode, stdout, stderr } = await sluice('run', 'p.yaml', '--ignore-images');
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  const warning = "images are ignored: step fit runs with this machine's programs";
  expect(stderr.split(warning)).toHaveLength(2);
});

test('--ignore-images rejects a step that has nothing but an image', async () => {
  writeFileSync(join(place.directory, 'p.yaml'), 'version: 1\nname: a\nsteps: { fit: { image: alpine } }\n');
  const { exitCode, stderr } = await sluice('run', 'p.yaml', '--ignore-images');
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('could not ignore the image of step fit: there is no command to run'),
  });
});
