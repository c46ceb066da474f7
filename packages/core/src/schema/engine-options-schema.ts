import { z } from 'zod';
import { ULIMITS } from '../model/engine-options.ts';
import { CONTAINER_USER, MAIL_ADDRESS, MPI_PLUGIN, SIZE, SLURM_OPTION } from './patterns.ts';

const flag = z.boolean({ error: 'true or false' });
const ulimitValue = z.int({ error: 'an integer' }).min(-1);
const ulimit = z.union(
  [
    ulimitValue,
    z
      .strictObject({ soft: ulimitValue, hard: ulimitValue }, { error: 'a map with `soft` and `hard`' })
      .refine(({ soft, hard }) => hard === -1 || (soft !== -1 && soft <= hard), {
        error: 'a `soft` limit that is at most the `hard` one',
      }),
  ],
  { error: 'a number, -1 for no limit, or a map with `soft` and `hard`' },
);
type UlimitShape = Record<(typeof ULIMITS)[number], z.ZodOptional<typeof ulimit>>;

/** `docker` of a step. */
export const dockerOptions = z.strictObject(
  {
    shmSize: z.string({ error: 'a size with its unit, for example 512MB or 4GiB' }).regex(SIZE).optional(),
    ulimits: z
      .strictObject(Object.fromEntries(ULIMITS.map((name) => [name, ulimit.optional()])) as UlimitShape, {
        error: 'a map of limits, for example `{ nofile: 65536 }`',
      })
      .optional(),
    user: z
      .union([z.int().min(0), z.string().regex(CONTAINER_USER)], { error: 'a user, for example "1000:1000"' })
      .optional(),
    pull: z.enum(['always', 'missing', 'never'], { error: 'one of always, missing, never' }).optional(),
  },
  { error: 'a map of options of Docker, for example `{ shmSize: 2GB }`' },
);

const slurmOption = z.string({ error: 'a string' }).regex(SLURM_OPTION);

/** `slurm` of a step. */
export const slurmOptions = z.strictObject(
  {
    partition: slurmOption.optional(),
    qos: slurmOption.optional(),
    account: slurmOption.optional(),
    constraint: slurmOption.optional(),
    exclusive: flag.optional(),
    licenses: slurmOption.optional(),
    reservation: slurmOption.optional(),
    gres: slurmOption.optional(),
    nodelist: slurmOption.optional(),
    exclude: slurmOption.optional(),
    mail: z.string({ error: 'a string' }).regex(MAIL_ADDRESS).optional(),
    mpi: z.string({ error: 'a string' }).regex(MPI_PLUGIN).optional(),
  },
  { error: 'a map of options of Slurm, for example `{ partition: gpu }`' },
);
