import type { Listener, Service, ServiceConfig } from '@sluice/service';

type Address = ServiceConfig['listen'][number];

/** The addresses of a service, which may change while it runs. */
export interface ServedAddresses {
  /** Closes the addresses that are no longer listed, then opens the new ones; rejects if one cannot be opened. */
  open(wanted: readonly Address[]): Promise<void>;
}

/** `onListening` receives each address with its actual port. */
export function createServedAddresses(service: Service, onListening: (url: string) => void): ServedAddresses {
  const listeners = new Map<string, Listener>();
  const nameOf = ({ host, port }: Address) => `${host} ${port}`;
  return {
    async open(wanted) {
      const names = wanted.map(nameOf);
      const gone = [...listeners].filter(([name]) => !names.includes(name));
      // Closed first: the same port may be listed on another address.
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
