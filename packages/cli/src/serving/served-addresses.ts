import type { Listener, Service, ServiceConfig } from '@sluice/service';

type Address = ServiceConfig['listen'][number];

/** The addresses that a service is served at, which may change while it runs. */
export interface ServedAddresses {
  /** Stops listening where that is no longer wanted, then begins where it is; throws where that cannot be. */
  open(wanted: readonly Address[]): Promise<void>;
}

/** `onListening` receives each address with the port that is really used. */
export function createServedAddresses(service: Service, onListening: (url: string) => void): ServedAddresses {
  const listeners = new Map<string, Listener>();
  const nameOf = ({ host, port }: Address) => `${host} ${port}`;
  return {
    async open(wanted) {
      const names = wanted.map(nameOf);
      const gone = [...listeners].filter(([name]) => !names.includes(name));
      // These first: the same port may be wanted on another address.
      await Promise.all(
        gone.map(async ([name, listener]) => {
          listeners.delete(name);
          await listener.close();
        }),
      );
      for (const address of wanted) {
        if (listeners.has(nameOf(address))) continue;
        const listener = await service.listen(address);
        listeners.set(nameOf(address), listener);
        onListening(listener.url);
      }
    },
  };
}
