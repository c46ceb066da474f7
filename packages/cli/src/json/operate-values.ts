import { RUN_PHASES, runSettings, time } from '@sluice/run';
import { z } from 'zod';
import { planValue } from './plan-value.ts';

const scope = { clusterId: z.string(), accountId: z.string() };
const count = z.int().min(0);
const bytes = z.int().min(0);
const cell = z.string().describe('empty for a plain step');
const profileSource = z.enum(['flag', 'variable', 'home', 'default']);
const cluster = z
  .strictObject({ clusterId: z.string(), engine: z.string(), accounts: count, instanceTypes: count })
  .describe('A cluster in the configuration of a service, with the number of its accounts and instance types.');

/** The values of commands that start no run and describe none, by the value of `type`. */
export const OPERATE_VALUES = {
  check: z
    .strictObject({
      file: z.string().describe('as given'),
      pipeline: z.string(),
      steps: count,
      missingParams: z.array(z.string()).readonly().describe('parameters for which a run needs values'),
    })
    .describe('A pipeline file without errors.'),
  plan: planValue,
  cancellation: z
    .strictObject({
      runId: z.string(),
      status: z.enum(RUN_PHASES).describe('`running`: the process that executes the run cancels it'),
    })
    .describe('A run whose cancellation was requested.'),
  approval: z
    .strictObject({
      runId: z.string(),
      step: z.string(),
      approved: z.boolean().describe('false: rejected'),
      status: z.enum(['running', 'suspended']).describe('`suspended`: the run uses the answer when it is resumed'),
    })
    .describe('The answer to a step that waits for approval.'),
  adoption: z
    .strictObject({
      runId: z.string(),
      containers: z
        .array(
          z.strictObject({
            step: z.string(),
            cell,
            attempt: z.int(),
            phase: z.string().describe('as the service reports it'),
          }),
        )
        .readonly(),
    })
    .describe('A run that was rebuilt from its containers.'),
  orphan: z
    .strictObject({
      containerId: z.string(),
      runId: z.string(),
      step: z.string(),
      cell,
      attempt: z.int(),
      phase: z.string().describe('as the service reports it'),
      createdAt: time.exactOptional().describe('absent if the service reports none'),
      run: z.enum(['ended', 'unknown']),
      canceled: z.boolean(),
    })
    .describe('A container that no run will use again.'),
  suspension: z.strictObject({ runId: z.string() }).describe('A run that no process executes any more.'),
  detached: z
    .strictObject({
      runId: z.string(),
      hostPid: z.int().exactOptional().describe('the process of this machine that executes the run'),
      job: z.string().exactOptional().describe('the job of Slurm that executes the run'),
      log: z.string().exactOptional().describe('the output of that job'),
      url: z.string().exactOptional().describe('where the server that executes the run shows it'),
    })
    .describe('A run that continues in the background.'),
  download: z
    .strictObject({ output: z.string(), path: z.string().exactOptional(), to: z.string(), files: count, bytes })
    .describe('An output that was copied; with `path`, a directory or file in it.'),
  garbage: z
    .strictObject({
      dryRun: z.boolean().describe('true: nothing was removed'),
      bytes: bytes.describe('the sum of `removed`'),
      removed: z
        .array(
          z.discriminatedUnion('kind', [
            z.strictObject({ kind: z.literal('run'), runId: z.string(), pipeline: z.string(), bytes }),
            z.strictObject({ kind: z.literal('source'), volumeId: z.string(), digest: z.string(), bytes }),
          ]),
        )
        .readonly(),
      retained: z
        .array(z.strictObject({ runId: z.string(), pipeline: z.string(), message: z.string() }))
        .readonly()
        .describe('runs, with the reason'),
      problems: z.array(z.string()).readonly().describe('what could not be removed'),
    })
    .describe('What `gc` has removed, or with `--dry-run` would remove.'),
  deletion: z
    .strictObject({
      runs: z.array(z.strictObject({ runId: z.string(), pipeline: z.string(), bytes })).readonly(),
      bytes: bytes.describe('the sum of `runs`'),
      problems: z.array(z.string()).readonly().describe('what could not be removed'),
    })
    .describe('Runs that `delete` has removed.'),
  schedule: z
    .strictObject({
      schedule: z.string(),
      file: z.string().exactOptional(),
      settings: runSettings
        .exactOptional()
        .describe('the parameters and options of all runs; absent if no command has recorded them'),
      timezone: z.string(),
      nextAt: time.exactOptional().describe('the next planned time; absent if it is paused or has none'),
      paused: z.boolean(),
      pausedAt: time.exactOptional(),
    })
    .describe('A schedule of a home.'),
  plannedTime: z
    .strictObject({ schedule: z.string(), plannedAt: time, timezone: z.string() })
    .describe('A time at which a schedule starts a run.'),
  doctor: z
    .strictObject({
      node: z.string().describe('the version of Node.js'),
      home: z.string(),
      problem: z.string().exactOptional().describe('why the home cannot be used'),
      engines: z
        .array(
          z.strictObject({
            engine: z.string(),
            works: z.boolean(),
            found: z.string(),
            limits: z.array(z.string()).readonly().exactOptional().describe('limits of the site, for people'),
            advice: z.string().exactOptional(),
          }),
        )
        .readonly(),
    })
    .describe('The container engines of this machine.'),
  bundle: z
    .strictObject({
      file: z.string(),
      bytes,
      contents: z.array(z.strictObject({ name: z.string(), bytes })).readonly(),
      leftOut: z.array(z.strictObject({ name: z.string(), reason: z.string() })).readonly(),
    })
    .describe('An archive for a bug report, which `doctor --bundle` has written.'),
  trust: z
    .strictObject({ home: z.string(), connection: z.record(z.string(), z.string()).readonly(), file: z.string() })
    .describe('A confirmed home; `file` contains the confirmation.'),
  login: z
    .strictObject({
      profile: z.string(),
      file: z.string(),
      service: z.string(),
      email: z.string().exactOptional(),
      ...scope,
    })
    .describe('A profile that a login has written.'),
  logout: z
    .strictObject({
      profile: z.string(),
      file: z.string(),
      service: z.string().exactOptional(),
      removed: z.boolean().describe('false: there was no saved token'),
    })
    .describe('A profile whose token was removed.'),
  profileEntry: z
    .strictObject({
      profile: z.string().exactOptional().describe('the name of a profile of the user; absent for other files'),
      file: z.string(),
      selectedBy: profileSource.exactOptional().describe('why it applies here; absent if it does not'),
      use: z.string().exactOptional().describe('the profile of the user that it names'),
      service: z.string().exactOptional(),
      clusterId: z.string().exactOptional(),
      accountId: z.string().exactOptional(),
      email: z.string().exactOptional(),
      problem: z.string().exactOptional().describe('why commands cannot use it'),
    })
    .describe('A profile of the user or of the home.'),
  profileSettings: z
    .strictObject({
      file: z.string().exactOptional().describe('absent if no profile applies'),
      selectedBy: profileSource.exactOptional(),
      settings: z
        .array(
          z.strictObject({
            setting: z.string(),
            value: z.string().exactOptional().describe('absent for a secret'),
            source: z.string().describe('a variable or the path of a profile'),
          }),
        )
        .readonly(),
      problem: z.string().exactOptional().describe('why commands cannot use it'),
    })
    .describe('The settings of one profile, and the variables that replace them.'),
  homeProfile: z
    .strictObject({ profile: z.string(), home: z.string(), file: z.string() })
    .describe('The profile of the user that a home uses from now on.'),
  identity: z
    .strictObject({
      service: z.string().exactOptional().describe('absent for the embedded service of the home'),
      home: z.string(),
      file: z.string().exactOptional().describe('the profile; absent if none applies'),
      email: z.string().exactOptional().describe('absent if it is not known, for example of a token'),
      accounts: z.array(z.strictObject(scope)).readonly().describe('the accounts that the login may use'),
    })
    .describe('The login with which commands use their service.'),
  listener: z.strictObject({ url: z.string() }).describe('An address at which `serve` answers.'),
  user: z
    .strictObject({
      userId: z.string(),
      email: z.string(),
      name: z.string(),
      accounts: z.array(z.strictObject(scope)).readonly(),
    })
    .describe('A user of a service.'),
  account: z.strictObject(scope).describe('An account in the configuration of a service.'),
  cluster,
  instanceType: z
    .strictObject({
      clusterId: z.string(),
      instanceType: z.string(),
      cpu: z.int().min(1),
      memory: z.string().describe('with its unit, for example 16GB'),
      gpu: count,
      cpuModel: z.string().exactOptional(),
      gpuModel: z.string().exactOptional(),
    })
    .describe('An instance type in the configuration of a service.'),
  change: z
    .strictObject({
      resource: z.enum(['user', 'account', 'cluster', 'instanceType']),
      action: z.enum(['add', 'remove', 'password', 'grant', 'revoke']),
      email: z.string().exactOptional(),
      clusterId: z.string().exactOptional(),
      accountId: z.string().exactOptional(),
      instanceType: z.string().exactOptional(),
    })
    .describe('A change that `admin` has made; the IDs are those of the resource.'),
  certificate: z
    .strictObject({ path: z.string() })
    .describe('The certificate that clients of exposed ports must trust.'),
} as const;
