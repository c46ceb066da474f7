/** Limits of a file, checked before or during parsing, so that no hostile file can exhaust the process. */
export const MAX_FILE_CHARACTERS = 64 * 1024 * 1024;
/** Values after the expansion of aliases. */
export const MAX_VALUES = 20_000_000;
/** Of these, values behind aliases: a file of ten lines must not expand to a gigabyte. */
export const MAX_ALIASED_VALUES = 2_000_000;
/** Steps from used pipelines: a few files that use each other twice could otherwise expand to billions of steps. */
export const MAX_USED_STEPS = 20_000;
/** Files joined by `include` and `uses`. */
export const MAX_FILES = 1000;
