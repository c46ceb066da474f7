/** What can be handed to a program: no argument, variable or path holds a NUL. */
export const TEXT = /^[^\0]*$/;
/** Steps, volumes, pools, ports, clusters: they become parts of identifiers of the service, and names of directories. */
export const NAME = /^[a-z0-9-]{1,100}$/;
/** Params, results, inputs, outputs, matrix axes: they are written in expressions, and become names of directories. */
export const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_-]{0,99}$/;
/** Environment variables and secrets. */
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_.]*$/;
export const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/;
export const SIZE = /^\d+(?:\.\d+)?(?:B|[KMGT]i?B)$/;
/** A mount point, and one that the kernel can have: names of at most 255 bytes. */
export const MOUNT_POINT = /^(?!.*[^/]{256})\/[^\p{Cc}]{1,4094}$/u;
/** What may name an image, before an engine has judged it. What begins with a dash, runtimes take for an option. */
export const IMAGE = /^(?![-\s])[^\p{Cc}]+$/u;
/** `step.output` or `volumes.name/sub/path`. */
export const EDGE = /^(?:volumes\.[a-z0-9-]+(?:\/[^\0]*)?|[a-z0-9-]+\.[A-Za-z_][A-Za-z0-9_-]*)$/;
export const STEP_OUTPUT = /^[a-z0-9-]+\.[A-Za-z_][A-Za-z0-9_-]*$/;
/** A glob pattern of files beneath an output: relative, and short enough to be matched quickly. */
export const FILE_PATTERN = /^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\0]{1,200}$/;
export const RESULT_FILE = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/;

export interface PatternAdvice {
  readonly code: string;
  readonly wanted: string;
}

/** What to say of a text that does not match, by the pattern's source as the schema library reports it. */
export const PATTERN_ADVICE: ReadonlyMap<string, PatternAdvice> = new Map<string, PatternAdvice>([
  [String(TEXT), { code: 'wrong-value', wanted: 'a string without NUL characters' }],
  [String(NAME), { code: 'bad-name', wanted: 'a name of up to 100 lower-case letters, digits and `-`' }],
  [
    String(IDENTIFIER),
    { code: 'bad-name', wanted: 'a name of up to 100 letters, digits, `_` and `-` that begins with a letter' },
  ],
  [String(VARIABLE), { code: 'bad-name', wanted: 'a variable name of letters, digits and `_`' }],
  [String(DURATION), { code: 'bad-duration', wanted: 'a duration with its unit, for example 90s, 15m, 2h or 1d' }],
  [String(SIZE), { code: 'bad-size', wanted: 'a size with its unit, for example 512MB or 4GiB' }],
  [String(MOUNT_POINT), { code: 'bad-path', wanted: 'an absolute path inside the container, for example /in/data' }],
  [String(IMAGE), { code: 'wrong-value', wanted: 'the name of an image, for example python:3.12-slim' }],
  [String(EDGE), { code: 'bad-edge', wanted: '`step.output` or `volumes.name/sub/path`' }],
  [String(STEP_OUTPUT), { code: 'bad-edge', wanted: '`step.output`' }],
  [
    String(FILE_PATTERN),
    {
      code: 'bad-path',
      wanted: 'a file pattern of up to 200 characters beneath the output, for example `*.bin` or `logs/**`',
    },
  ],
  [String(RESULT_FILE), { code: 'bad-path', wanted: 'a plain file name under /sluice/results' }],
]);
