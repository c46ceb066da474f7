import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineRig } from '../engine-rig.ts';
import { dockerRig, hasDocker, makeImage } from './docker-rig.ts';

/** What an image says of its command, as users of `docker run` know it. */
describe.skipIf(!hasDocker && process.env.CI !== 'true')('Docker engine with images of several kinds', () => {
  let rig: EngineRig;

  beforeAll(async () => {
    rig = dockerRig();
    await rig.open();
    await makeImage('sluice-test-entry', ['ENTRYPOINT ["printf","<%s>"]', 'CMD ["by","default"]']);
    await makeImage('sluice-test-user', ['USER 4711:4712', 'WORKDIR /somewhere/new', 'CMD id -u; pwd; exit 5']);
  });
  afterAll(() => rig.close());

  it('runs the entrypoint with the default command', async () => {
    const container = await rig.launch({ image: 'sluice-test-entry', command: [] });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(await container.text()).toBe('<by><default>');
  });

  it('keeps the entrypoint when a command is given', async () => {
    const container = await rig.launch({ image: 'sluice-test-entry', command: ['one', 'two words'] });
    await container.end();
    expect(await container.text()).toBe('<one><two words>');
  });

  it('runs as the user and in the directory of the image', async () => {
    const container = await rig.launch({ image: 'sluice-test-user', command: [] });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 5 });
    expect(await container.text()).toBe('4711\n/somewhere/new\n');
  });

  it.each([
    ['/etc/passwd', /could not start '\/etc\/passwd': .*\(126\)/],
    ['/no/such/file', /could not start '\/no\/such\/file': .*\(127\)/],
  ])('says why %s cannot be started', async (command, reason) => {
    const container = await rig.prepare({ command: [command] });
    expect(await rig.rejection(container)).toMatchObject({ kind: 'rejected', reason: expect.stringMatching(reason) });
  });

  it('has a digest, which changes when the tag is given to another image', async () => {
    const digest = () => rig.engine.resolveImage?.('sluice-test-digest', { accountID: 'tester' });
    await makeImage('sluice-test-digest', ['ENV VERSION=1']);
    const first = await digest();
    expect(first).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await digest()).toBe(first);
    await makeImage('sluice-test-digest', ['ENV VERSION=2']);
    expect(await digest()).not.toBe(first);
    expect(await rig.engine.resolveImage?.('sluice-test-none:1', { accountID: 'tester' })).toBeUndefined();
    await expect(rig.engine.resolveImage?.('../x', { accountID: 'tester' })).rejects.toMatchObject({
      code: 'REJECTED',
    });
  });

  it('hands signals on, and tells an end by signal', async () => {
    const container = await rig.launch({ command: ['sh', '-c', 'kill -USR1 1; sleep 5; kill -KILL $$'] });
    // The first process has got it and handed it on to its child, for which the default is to end.
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 138, signal: 'SIGUSR1' });
  });

  it('keeps what is written to /dev/stdout and /dev/stderr by name, in order', async () => {
    const script =
      'echo a; echo b > /dev/stderr; echo c > /dev/stdout; echo d | tee /dev/stderr; exec 1>&-; sleep 0.1; echo e >&2';
    const container = await rig.launch({ image: 'sluice-test-user', command: ['sh', '-c', script] });
    await container.end();
    expect(await container.text()).toBe('a\nb\nc\nd\nd\ne\n');
  });
});
