import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type DavRig, openDavRig } from './dav-rig.ts';

const elements = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `<${prefix}${index}/>`).join('');
const propfind = (content: string, declarations = '') => ({
  headers: { depth: '0' },
  body: `<D:propfind xmlns:D="DAV:" ${declarations}><D:prop>${content}</D:prop></D:propfind>`,
});
const proppatch = (content: string, declarations = '') => ({
  body: `<D:propertyupdate xmlns:D="DAV:" ${declarations}><D:set><D:prop>${content}</D:prop></D:set></D:propertyupdate>`,
});

async function rigWithFile(): Promise<DavRig> {
  const rig = await openDavRig();
  writeFileSync(join(rig.session.root, 'f'), '');
  return rig;
}

test('a body whose namespaces each property would repeat is rejected before it takes memory', async () => {
  const rig = await rigWithFile();
  const long = `xmlns:x="${'u'.repeat(900_000)}"`;
  const many = Array.from({ length: 30_000 }, (_, index) => `xmlns:n${index}="u"`).join(' ');
  for (const declarations of [long, many]) {
    expect((await rig.send('PROPPATCH', '/f', proppatch(elements('x:p', 3_000), declarations))).status).toBe(413);
    expect((await rig.send('PROPFIND', '/f', propfind(elements('x:p', 3_000), declarations))).status).toBe(413);
  }
  expect(rig.errors).toEqual([]);
});

test('as many namespaces as clients use are taken, and given back with the property', async () => {
  const rig = await rigWithFile();
  const declarations = Array.from({ length: 50 }, (_, index) => `xmlns:n${index}="http://example.org/${index}"`);
  const patch = proppatch('<n7:p>n8:value</n7:p>', declarations.join(' '));
  expect((await rig.send('PROPPATCH', '/f', patch)).text).toContain('200 OK');
  const found = await rig.send('PROPFIND', '/f', propfind('<p xmlns="http://example.org/7"/>'));
  expect(found.text).toContain('>n8:value</n7:p>');
  expect(found.text).toContain('xmlns:n8="http://example.org/8"');
});

test('a file with very many properties gives those that are asked for among very many', async () => {
  const rig = await rigWithFile();
  for (let round = 0; round < 8; round += 1) {
    expect((await rig.send('PROPPATCH', '/f', proppatch(elements(`p${round}x`, 3_900)))).status).toBe(207);
  }
  const asked = await rig.send('PROPFIND', '/f', propfind(elements('q', 3_900) + elements('p7x', 50)));
  expect(asked.status).toBe(207);
  expect(asked.text.match(/<p7x\d+ /g)).toHaveLength(50);
  const all = await rig.send('PROPFIND', '/f', { headers: { depth: '0' } });
  expect(all.text.match(/<p\dx\d+ /g)).toHaveLength(8 * 3_900);
});
