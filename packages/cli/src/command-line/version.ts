/** Version of the `sluice` package, and so of all packages. Written by scripts/write-version.mjs. */
export const VERSION = '0.1.0';
