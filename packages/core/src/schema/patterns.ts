/** Text for programs: no argument, variable or path contains a NUL. */
export const TEXT = /^[^\0]*$/;
/**
 * Names of steps, volumes, pools, ports and clusters, which become parts of identifiers of the service and of paths.
 */
export const NAME = /^[a-z0-9-]{1,100}$/;
/** The name of a cluster, or text with an expression that yields one. */
export const CELL_NAME = /^(?:[a-z0-9-]{1,100}|[^\0]*\$\{\{[^\0]*)$/;
/** Names of params, results, inputs, outputs and matrix axes, which are used in expressions and paths. */
export const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_-]{0,99}$/;
/** Names of environment variables and secrets. */
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_.]*$/;
/** The key of an item of an axis, which becomes part of paths and addresses. */
export const ITEM_KEY = /^[A-Za-z0-9_-]{1,64}$/;
/** A field of the items of another axis: `axis.field`. */
export const AXIS_FIELD = /^[A-Za-z_][A-Za-z0-9_-]{0,99}\.[^\0]{1,200}$/;
/** Numbers with units from `ms` to `w`, such as `1h30m`. Validates the argument of `parseDuration`. */
export const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/;
/** A number with a decimal or binary unit, such as `20GB` or `512MiB`. Validates the argument of `parseSize`. */
export const SIZE = /^\d+(?:\.\d+)?(?:B|[KMGT]i?B)$/;
/** A percentage of cells, such as `5%` or `0.5%`. */
export const PERCENTAGE = /^(?:100|\d{1,2}(?:\.\d{1,2})?)%$/;
/** Text with an expression, which is evaluated for each cell. */
export const EXPRESSION = /^[^\0]*\$\{\{[^\0]*$/;
/** A duration, or text with an expression that yields one. */
export const CELL_DURATION = /^(?:(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+|[^\0]*\$\{\{[^\0]*)$/;
/** A size, or text with an expression that yields one. */
export const CELL_SIZE = /^(?:\d+(?:\.\d+)?(?:B|[KMGT]i?B)|[^\0]*\$\{\{[^\0]*)$/;
/** A mount point that the kernel accepts: names of at most 255 bytes. */
export const MOUNT_POINT = /^(?!.*[^/]{256})\/[^\p{Cc}]{1,4094}$/u;
/** The name of an image, before an engine has checked it. Runtimes would read a leading dash as an option. */
export const IMAGE = /^(?![-\s])[^\p{Cc}]+$/u;
/** `step.output` or `volumes.name`, each with an optional `/sub/path`, which `checkEdges` checks. */
export const EDGE = /^(?:volumes\.[a-z0-9-]+|[a-z0-9-]+\.[A-Za-z_][A-Za-z0-9_-]*)(?:\/[^\0]*)?$/;
/** `volumes.name/PATTERN`: a glob pattern for the files of a source. */
export const SOURCE_FILES = /^volumes\.[a-z0-9-]+\/(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\0]{1,200}$/;
/** `step.result`. */
export const STEP_RESULT = /^[a-z0-9-]+\.[A-Za-z_][A-Za-z0-9_-]*$/;
/** `step.output` with an optional `/sub/path`, which `checkEdges` checks. */
export const STEP_OUTPUT = /^(?!volumes\..*\/)[a-z0-9-]+\.[A-Za-z_][A-Za-z0-9_-]*(?:\/[^\0]*)?$/;
/** A glob pattern for files below an output: relative, and short enough to be matched quickly. */
export const FILE_PATTERN = /^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\0]{1,200}$/;
/** The path of a file, without expressions. */
export const PLAIN_PATH = /^(?!.*\$\{\{)(?!.*\/$)[^\p{Cc}]{1,4094}$/u;
/** An environment module, with or without its version. It is one word of a command line, and no option. */
export const MODULE = /^[A-Za-z0-9_][A-Za-z0-9_.+@:/=~-]{0,200}$/;
/** A value of an option of Slurm, as a service accepts it. */
export const SLURM_OPTION = /^(?![ -])[A-Za-z0-9_.,:;=+@*&|!()[\]{} -]{1,500}$/;
/** An address for the mails of Slurm, as a service accepts it. */
export const MAIL_ADDRESS = /^[A-Za-z0-9][A-Za-z0-9_.+=-]{0,200}(?:@[A-Za-z0-9.-]{1,200})?$/;
/** The name of a plugin for MPI, as a service accepts it. */
export const MPI_PLUGIN = /^[a-z][a-z0-9_]{0,31}$/;
/** A user of a container: a number or a name, each with an optional `:group`. */
export const CONTAINER_USER = /^(?:\d{1,10}|[a-z_][a-z0-9_.-]{0,31})(?::(?:\d{1,10}|[a-z_][a-z0-9_.-]{0,31}))?$/i;
/** The name of a file in the directory of results. */
export const RESULT_FILE = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/;

/** The parts of the message about a text that does not match. */
export interface PatternAdvice {
  readonly code: string;
  readonly wanted: string;
}

/** The message for a text that does not match, by the source of the pattern, as the schema library reports it. */
export const PATTERN_ADVICE: ReadonlyMap<string, PatternAdvice> = new Map<string, PatternAdvice>([
  [String(TEXT), { code: 'wrong-value', wanted: 'a string without NUL characters' }],
  [String(NAME), { code: 'bad-name', wanted: 'a name of up to 100 lower-case letters, digits and `-`' }],
  [
    String(CELL_NAME),
    {
      code: 'bad-name',
      wanted: 'a name of up to 100 lower-case letters, digits and `-`, or an expression that yields one',
    },
  ],
  [
    String(IDENTIFIER),
    { code: 'bad-name', wanted: 'a name of up to 100 letters, digits, `_` and `-` that begins with a letter' },
  ],
  [String(VARIABLE), { code: 'bad-name', wanted: 'a variable name of letters, digits and `_`' }],
  [String(PLAIN_PATH), { code: 'wrong-value', wanted: 'the path of a file without expressions' }],
  [String(MODULE), { code: 'wrong-value', wanted: 'the name of an environment module, for example gcc or gcc/13.1' }],
  [
    String(SLURM_OPTION),
    {
      code: 'wrong-value',
      wanted: 'up to 500 letters, digits, blanks and `_.,:;=+@*&|!()[]{}-`, beginning with neither a blank nor `-`',
    },
  ],
  [
    String(CONTAINER_USER),
    { code: 'wrong-value', wanted: 'a number or name of a user, with or without `:group`, for example "1000:1000"' },
  ],
  [String(MAIL_ADDRESS), { code: 'wrong-value', wanted: 'a mail address' }],
  [String(MPI_PLUGIN), { code: 'wrong-value', wanted: 'the name of a plugin for MPI, for example pmi2' }],
  [String(DURATION), { code: 'bad-duration', wanted: 'a duration with its unit, for example 90s, 15m, 2h or 1d' }],
  [String(CELL_DURATION), { code: 'bad-duration', wanted: 'a duration with its unit, for example 90s, 15m, 2h or 1d' }],
  [String(CELL_SIZE), { code: 'bad-size', wanted: 'a size with its unit, for example 512MB or 4GiB' }],
  [String(EXPRESSION), { code: 'wrong-type', wanted: 'a number, or an expression that yields one' }],
  [String(SIZE), { code: 'bad-size', wanted: 'a size with its unit, for example 512MB or 4GiB' }],
  [
    String(PERCENTAGE),
    { code: 'wrong-type', wanted: 'true, false, a number of cells, or a percentage of them, for example 5%' },
  ],
  [String(MOUNT_POINT), { code: 'bad-path', wanted: 'an absolute path inside the container, for example /in/data' }],
  [String(IMAGE), { code: 'wrong-value', wanted: 'the name of an image, for example python:3.12-slim' }],
  [String(EDGE), { code: 'bad-edge', wanted: '`step.output` or `volumes.name`, with or without `/sub/path`' }],
  [
    String(SOURCE_FILES),
    {
      code: 'bad-path',
      wanted: '`volumes.name/` and a file pattern of up to 200 characters, for example `volumes.raw/*.fastq.gz`',
    },
  ],
  [String(AXIS_FIELD), { code: 'wrong-value', wanted: '`axis.field`, for example `sample.group`' }],
  [String(STEP_RESULT), { code: 'bad-edge', wanted: '`step.result`' }],
  [String(STEP_OUTPUT), { code: 'bad-edge', wanted: '`step.output`, with or without `/sub/path`' }],
  [
    String(FILE_PATTERN),
    {
      code: 'bad-path',
      wanted: 'a file pattern of up to 200 characters beneath the output, for example `*.bin` or `logs/**`',
    },
  ],
  [String(RESULT_FILE), { code: 'bad-path', wanted: 'a plain file name under /sluice/results' }],
]);
