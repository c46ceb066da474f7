import type { EngineFactory } from '@sluice/service';

/** An engine whose containers run until they are looked at, and then are lost with the node that they ran on. */
export const faultyEngine: EngineFactory = () => {
  let sink: Parameters<Awaited<ReturnType<EngineFactory>>['open']>[0] | undefined;
  return {
    features: [],
    async open(to) {
      sink = to;
    },
    async launch({ key }) {
      const startedAt = Date.now();
      sink?.report(key, { type: 'running', startedAt, nodeID: 'node-7', runID: key, host: '127.0.0.1' });
      setImmediate(() => {
        const end = { kind: 'fault', reason: 'node failure' } as const;
        sink?.report(key, { type: 'exiting' });
        sink?.report(key, { type: 'ended', endedAt: Date.now(), end });
      });
    },
    async recover() {},
    async stop() {},
    async remove() {},
    async close() {},
  };
};
