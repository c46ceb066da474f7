/** Bounds of a file, checked before or while it is parsed, so that no hostile file can exhaust the process. */
export const MAX_FILE_CHARACTERS = 64 * 1024 * 1024;
/** Nesting of lists and maps. The deepest sensible pipeline has about 10 levels. */
export const MAX_DEPTH = 64;
/** Values after the expansion of aliases. */
export const MAX_VALUES = 20_000_000;
/** Files joined by `include` and `uses`. */
export const MAX_FILES = 1000;
