import { own } from '../model/own.ts';
import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { namesOf } from './names-of.ts';
import { suggestName } from './nearest-name.ts';

/** A step requests slots only from existing pools, and at most as many as a pool has. */
export const checkPools: Check = (context) => {
  const { pipeline, report } = context;
  for (const checked of context.steps.values()) {
    const { pools, perCell, name } = checked.step;
    for (const pool in { ...pools, ...perCell?.pools }) {
      const path = pathInStep(context, checked, ['pools', pool]);
      const size = Object.hasOwn(pipeline.pools, pool) ? own(pipeline.pools, pool) : undefined;
      // Of a cell with its own amount, the plan says it.
      const wanted = own(pools, pool) ?? 0;
      if (size === undefined) {
        const message = `step \`${name}\` uses pool \`${pool}\`, which is not declared under \`pools\``;
        report({
          code: 'unknown-pool',
          message,
          path,
          on: 'key',
          lookedIn: ['pools'],
          ...suggestName(pool, namesOf(pipeline.pools)),
        });
      } else if (wanted > size) {
        const message = `step \`${name}\` can never start: it needs ${wanted} slots of pool \`${pool}\`, which has ${size}`;
        report({ code: 'pool-too-small', message, path });
      }
    }
  }
};
