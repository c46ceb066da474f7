import { ENGINE_NAMES } from '@sluice/run';
import { InvalidArgumentError, Option } from 'commander';
import type { SharedOption } from '../context/shared-options.ts';
import type { GivenParam } from '../pipeline/read-given-params.ts';

/** The options that several commands share; each call creates new ones. */
export function createSharedOptions(): Readonly<Record<SharedOption, Option>> {
  return {
    home: new Option(
      '--home <dir>',
      'set the home, which contains runs, cache and the embedded service (default: the nearest .sluice)',
    ),
    profile: new Option(
      '--profile <name|file>',
      'read service and credentials from this profile (default: profile.yaml in the home, else your profile `default`)',
    ),
    service: new Option('--service <url>', 'use this v1rc1 service instead of the embedded service'),
    account: new Option('--account <cluster/account>', 'use this account of the service; also without its cluster'),
    cluster: new Option('--cluster <id>', 'use the only account on this cluster of the service'),
    engine: new Option(
      '--engine <name>',
      'use the embedded service with this engine: local runs containers on this machine, slurm as jobs of Slurm, slurm-job on the nodes of the job in which the command runs (default: engine of the profile, else slurm-job in a job with several nodes, else local)',
    )
      .choices(ENGINE_NAMES)
      .conflicts('service'),
    cpu: new Option(
      '--cpu <n>',
      'limit the cores of the embedded service (default: all cores of the machine)',
    ).argParser(parsePositive),
    verbose: new Option(
      '--verbose',
      'print to standard error how the service has answered each request, and after how long',
    ).conflicts('quiet'),
    json: new Option('--json', 'print JSON, one value per line'),
    color: new Option(
      '--color <when>',
      'print colors (default: auto, as the terminal, NO_COLOR and FORCE_COLOR say)',
    ).choices(['auto', 'always', 'never']),
  };
}

/** `-r`, of commands whose arguments name something inside a run. */
export function runOption(otherwise = 'the newest run'): Option {
  return new Option('-r, --run <run>', `select the run by its ID or the start of its ID (default: ${otherwise})`);
}

/** `-p`, which collects its values by parameter. */
export function paramOption(): Option {
  return new Option(
    '-p, --param <name=value>',
    'set a parameter of the pipeline; @FILE reads its value from a table, YAML or JSON file; repeatable',
  ).argParser(addParam);
}

/** `--params-file`, of commands with `-p`. */
export function paramsFileOption(): Option {
  return new Option('--params-file <file>', 'read parameters from this YAML or JSON file; -p overrides them');
}

/** `--label`, of commands that start runs; it collects its values by name. */
export function labelOption(): Option {
  return new Option('--label <name=value>', 'add a label to the run and its containers; repeatable').argParser(addPair);
}

/** `@FILE` names a file, and `@@` begins a text with `@`. */
function addParam(text: string, before: Record<string, GivenParam> | undefined): Record<string, GivenParam> {
  const [[name = '', value = ''] = []] = Object.entries(addPair(text, {}));
  if (value === '@') throw new InvalidArgumentError('It must name a file after @; @@ begins a text with @.');
  const isFile = value.startsWith('@') && !value.startsWith('@@');
  return { ...before, [name]: isFile ? { file: value.slice(1) } : value.replace(/^@@/, '@') };
}

function addPair(text: string, before: Record<string, string> | undefined): Record<string, string> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('It must have the form name=value.');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** The options of every command that reads a pipeline file. */
export function fileOptions(): readonly Option[] {
  return [
    paramOption(),
    paramsFileOption(),
    new Option(
      '--root <dir>',
      'allow `include` and `uses` only below this directory (default: the git work tree, or the directory of FILE)',
    ),
    new Option('--ignore-images', "ignore images and run the commands with this machine's programs"),
  ];
}

/** The options of `run` and `plan` that select what to reuse. */
export function reuseOptions(): readonly Option[] {
  return [
    new Option('--reuse', 'reuse successful, unchanged steps from the latest run'),
    new Option('--reuse-from <run>', 'reuse steps from this run instead of the latest'),
    fromOption('like --reuse, but '),
  ];
}

/** `--from`, of commands that reuse an earlier run. */
export function fromOption(introduction = ''): Option {
  const what = 'rerun this step or cell and everything that depends on it; repeatable';
  return new Option('--from <step[/cell]>', `${introduction}${what}`).argParser(addText);
}

/** `--stop-at-approval`, of commands that follow a run. */
export function approvalOption(): Option {
  return new Option('--stop-at-approval', 'exit with code 75 as soon as only approvals are left to wait for');
}

/** `--here`, of commands that start a run. */
export function hereOption(): Option {
  return new Option('--here', 'execute the run on this machine, even if the service could execute it');
}

/** `--detach`, of a command that continues a run. */
export function backgroundOption(): Option {
  return new Option('--detach', 'continue the run in the background and exit').conflicts('stopAtApproval');
}

/** `--detach`, of commands that start a run. */
export function detachOption(): Option {
  return new Option('--detach', 'start the run in the background or on the server, print its ID and exit').conflicts(
    'stopAtApproval',
  );
}

/** `--as-job`, of commands that start a run. */
export function jobOption(): Option {
  return new Option(
    '--as-job',
    'with --engine slurm: submit the command itself as a job of Slurm, print its ID and exit; the job continues the run when it is requeued',
  ).conflicts(['detach', 'here', 'stopAtApproval', 'junit']);
}

/** `--resubmit`, of commands that follow a run. */
export function resubmitOption(): Option {
  return new Option(
    '--resubmit',
    'in a script of sbatch: shortly before the time limit, suspend the run and put the job into the queue again; its next start continues the run',
  ).conflicts(['detach', 'asJob', 'service']);
}

/** `--junit`, of commands that know how a run has ended. */
export function junitOption(): Option {
  return new Option('--junit <file>', 'write the result of the run to this file as JUnit XML').conflicts('detach');
}

/** `--quiet`, of commands that follow a run. */
export function quietOption(): Option {
  return new Option('--quiet', 'print only errors, and the report of a run that does not succeed').conflicts('json');
}

/** `--no-input`, of commands that ask for something. */
export function inputOption(): Option {
  return new Option('--no-input', 'never ask on the terminal; what is missing is an error');
}

/** `--config`, of commands that read the configuration of a service. */
export function configOption(): Option {
  return new Option(
    '--config <file>',
    'read clusters, accounts and listeners from this file (docs/serve.md)',
  ).makeOptionMandatory();
}

/** Collects the values of a repeatable option. */
export function addText(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Parses a whole number of at least 1. */
export function parsePositive(text: string): number {
  const count = parseCount(text);
  if (count === 0) throw new InvalidArgumentError('It must be at least 1.');
  return count;
}

/** Parses a whole number of at most nine digits. */
export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
