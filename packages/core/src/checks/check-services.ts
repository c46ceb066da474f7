import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { suggestName } from './nearest-name.ts';

/** A readiness check uses a port of the service, and a service is not cached. */
export const checkServices: Check = (context) => {
  for (const checked of context.steps.values()) {
    const { service, ports, name, cache, matrix, foreach } = checked.step;
    if (service === undefined) continue;
    const { ready } = service;
    if (ready !== undefined && 'port' in ready && !Object.hasOwn(ports, ready.port)) {
      const message = `the readiness check of step \`${name}\` uses port \`${ready.port}\`, which is not declared under \`ports\``;
      const path = pathInStep(context, checked, ['service', 'ready', 'port']);
      context.report({
        code: 'unknown-port',
        message,
        path,
        lookedIn: [...checked.path, 'ports'],
        ...suggestName(ready.port, Object.keys(ports)),
      });
    }
    for (const [key, value] of [
      ['cache', cache],
      ['matrix', matrix],
      ['foreach', foreach],
    ] as const) {
      if (value === undefined) continue;
      const message = `step \`${name}\` is a service, so it cannot have \`${key}\``;
      context.report({ code: 'conflicting-keys', message, path: pathInStep(context, checked, [key]), on: 'key' });
    }
  }
};
