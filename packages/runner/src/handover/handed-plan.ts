import { z } from 'zod';

/** As in a pipeline file. These names become parts of local paths. */
const name = z.string().regex(/^[a-z0-9-]{1,100}$/);
const identifier = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/);
const cell = z.looseObject({ key: z.string().regex(/^[a-z0-9-]{0,200}$/) });

const step = z.looseObject({
  name,
  outputs: z.record(identifier, z.unknown()),
  results: z.record(identifier, z.unknown()),
});

/** The parts of a stored plan that must be safe before a process uses a plan that it has not created. */
export const handedPlanSchema = z.looseObject({
  pipeline: z.looseObject({
    name,
    steps: z.array(step),
    finally: z.array(step),
    outputs: z.record(identifier, z.unknown()),
    volumes: z.record(name, z.looseObject({ source: z.string().optional() })),
    notify: z.array(z.looseObject({ command: z.unknown().optional() })),
  }),
  steps: z.array(
    z.looseObject({
      index: z.int().min(0),
      dependencies: z.array(z.looseObject({ on: z.int().min(0) })),
      cells: z.array(cell).optional(),
    }),
  ),
});

/** A plan whose names are safe. */
export type HandedPlan = z.infer<typeof handedPlanSchema>;
