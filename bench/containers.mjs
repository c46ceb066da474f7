/** `work` for 0 to `count` - 1, at most `width` at a time. Resolves to the seconds that it took. */
export async function timeLanes(width, count, work) {
  const start = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane));
  return (performance.now() - start) / 1000;
}

/** Runs containers of one account to their success, by the hints of the service. */
export function createContainerRunner(api, scope) {
  const wakes = new Map();
  const stop = api.watch(({ containerID }) => wakes.get(containerID)?.());
  return {
    async run(id, spec) {
      const hints = { wake: () => {} };
      wakes.set(id, () => hints.wake());
      await api.containers.create(scope, spec, { containerID: id });
      for (;;) {
        const hint = new Promise((resolve) => {
          hints.wake = resolve;
        });
        const { phase, state } = await api.containers.get({ ...scope, id });
        if (phase === 'Succeeded') break;
        if (['Failed', 'Unknown', 'Canceled'].includes(phase)) throw new Error(`${id}: ${phase}, ${state}`);
        await hint;
      }
      wakes.delete(id);
    },
    close: () => stop?.(),
  };
}
