import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { API, openRawHttp } from './raw-http.ts';

describe('/readyz', () => {
  it('names the cluster that is not ready, but gives the reason only to users of its accounts', async () => {
    const engine = new FakeEngine();
    engine.openError = new Error('could not log in to registry.internal as robot');
    const engines = {
      fake: ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine()),
    };
    const http = await openRawHttp({ engine: 'fake', engines });
    onTestFinished(() => http.close());
    const reply = await http.send('GET', '/readyz', { headers: { authorization: '' } });
    expect(reply.status).toBe(503);
    expect(reply.json()).toMatchObject({ ready: false, engines: { one: 'not ready', two: 'ready' } });
    expect(reply.text).not.toContain('registry');
    const body = JSON.stringify({ instanceType: 'small', command: ['true'] });
    const create = await http.send('POST', `${API}/containers`, { body });
    expect(create.status).toBe(503);
    expect(create.text).toContain('registry.internal');
  });

  it('names a cluster whose engine no longer answers while nothing runs there, until it answers again', async () => {
    const engine = new FakeEngine();
    const http = await openRawHttp({
      engine: 'fake',
      engines: { fake: ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine()) },
    });
    onTestFinished(() => http.close());
    const isReady = async () => (await http.send('GET', '/readyz')).json();
    expect(await isReady()).toMatchObject({ ready: true });
    engine.answers('Docker Engine does not answer on /run/docker.sock');
    expect(await isReady()).toMatchObject({ ready: false, engines: { one: 'not ready', two: 'ready' } });
    const body = JSON.stringify({ instanceType: 'small', command: ['true'] });
    const create = await http.send('POST', `${API}/containers`, { body });
    expect(create.status).toBe(503);
    expect(create.text).toContain('Docker Engine does not answer');
    engine.answers(undefined);
    expect(await isReady()).toMatchObject({ ready: true });
  });
});
