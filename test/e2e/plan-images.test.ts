import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;
let server: Server | undefined;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
  place.remove();
});

test('sluice plan says that an image goes by its name where the service knows no digests', async () => {
  const step = '{ image: "base:1", command: [echo] }';
  writeFileSync(join(place.directory, 'p.yaml'), `version: 1\nname: p\nsteps:\n  a: ${step}\n  b: ${step}\n`);
  server = await serveNew(place);
  const args = ['plan', 'p.yaml', '--service', server.url];
  const planned = await place.start(args, { env: CREDENTIALS }).ended;
  expect(planned.stdout, planned.stderr).toContain('image of a, b: base:1, by its name: its digest is not known');
});
