import type { z } from 'zod';

/**
 * Checks the options of an engine in a profile. Throws an error for the user that names all wrong ones. `where` ends the
 * sentence about an option that is unknown there.
 */
export function parseOptions<T>(
  options: Readonly<Record<string, unknown>>,
  { schema, engine, where }: { readonly schema: z.ZodType<T>; readonly engine: string; readonly where: string },
): T {
  const checked = schema.safeParse(options);
  if (checked.success) return checked.data;
  const faults = checked.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `there is no option '${key}' ${where}`)
      : [`'${issue.path.join('.')}' ${issue.message}`],
  );
  throw new Error(`could not use the options of the engine ${engine}: ${faults.join('; ')}`);
}
