import { type SlurmCommands, SlurmError } from './slurm-commands.ts';

/** What Slurm says of its limits; undefined where it does not answer. */
export interface SlurmAnswers {
  /** Of `sinfo` with `PARTITION_ARGUMENTS`. */
  readonly partitions: string | undefined;
  /** Of `scontrol show config`. */
  readonly config: string | undefined;
  /** Of `sacctmgr` with `ASSOCIATION_ARGUMENTS`, or why it does not answer. */
  readonly associations: { readonly text: string } | { readonly error: string };
}

/** Partition (with `*` if it is the default), state, time limit, default time, nodes, cores, megabytes, generic resources. */
const PARTITION_ARGUMENTS = ['--noheader', '--format=%P|%a|%l|%L|%D|%c|%m|%G'];
const ASSOCIATION_FIELDS = ['account', 'partition', 'qos', 'maxjobs', 'maxsubmit', 'maxwall', 'grpjobs', 'grpsubmit'];

/** Asks Slurm for the limits that apply to a user of this machine. Never rejects. */
export async function readSlurmAnswers(slurm: SlurmCommands, user: string): Promise<SlurmAnswers> {
  const ask = (...call: Parameters<SlurmCommands['run']>) => slurm.run(...call).catch(() => undefined);
  const format = `format=${ASSOCIATION_FIELDS.join(',')}`;
  const [partitions, config, associations] = await Promise.all([
    ask('sinfo', PARTITION_ARGUMENTS),
    ask('scontrol', ['show', 'config']),
    slurm.run('sacctmgr', ['--noheader', '--parsable2', 'show', 'associations', `user=${user}`, format]).then(
      (text) => ({ text }),
      (error: Error) => ({ error: (error instanceof SlurmError ? error.message : 'no sacctmgr').split('\n')[0]! }),
    ),
  ]);
  return { partitions, config, associations };
}

/** The limits as one line each, with what they mean for the user. */
export function describeSlurmLimits({ partitions, config, associations }: SlurmAnswers): string[] {
  return [
    ...describePartitions(partitions),
    ...describeConfig(config),
    ...('text' in associations
      ? describeAssociations(associations.text)
      : [
          `limits of your account: unknown (${associations.error}); a job beyond them waits, or its submission is repeated`,
        ]),
  ];
}

function describePartitions(text = ''): string[] {
  const lines = new Map<string, string[]>();
  for (const line of text.trim().split('\n')) {
    const [name = '', state = '', limit = '', usual = '', nodes = '', cores = '', memory = '', gres = ''] =
      line.split('|');
    if (name === '') continue;
    const up = state === 'up' ? '' : `, ${state}`;
    const defaultTime = /^(n\/a|\(null\))?$/.test(usual)
      ? ''
      : `, ${usual} without \`time\`, \`timeout\` and \`timeLimit\``;
    const head = `partition ${name.replace(/\*$/, ' (the default)')}${up}: jobs of at most ${limit}${defaultTime}`;
    const gpus = gres.split(',').filter((entry) => entry.startsWith('gpu'));
    const size = `${nodes} × ${[`${cores} cores`, `${memory} MB`, ...gpus].join(', ')}`;
    lines.set(head, [...(lines.get(head) ?? []), size]);
  }
  return [...lines].map(([head, sizes]) => `${head}; nodes: ${sizes.join('; ')}`);
}

function describeConfig(text = ''): string[] {
  const settingOf = (name: string) => new RegExp(`^${name}\\s*= (\\S+)`, 'm').exec(text)?.[1];
  const jobs = settingOf('MaxJobCount');
  const array = settingOf('MaxArraySize');
  const enforces = settingOf('EnforcePartLimits');
  return [
    ...(jobs === undefined
      ? []
      : [`MaxJobCount ${jobs}: all users together; beyond it, submissions are repeated until one succeeds`]),
    ...(array === undefined ? [] : [`MaxArraySize ${array}: of no effect, since each container is a job of its own`]),
    ...(enforces !== 'NO'
      ? []
      : ['EnforcePartLimits NO: a job that fits no node of its partition waits forever instead of failing']),
  ];
}

function describeAssociations(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.includes('|'));
  if (lines.length === 0) return ['limits of your account: none are set for you'];
  return lines.map((line) => {
    const values = Object.fromEntries(line.split('|').map((value, i) => [ASSOCIATION_FIELDS[i]!, value.trim()]));
    const { account, partition, qos, maxjobs, maxsubmit, maxwall, grpjobs, grpsubmit } = values;
    const most = [maxsubmit, grpsubmit].filter(Boolean).map(Number);
    const parts = [
      ...(most.length === 0
        ? []
        : [
            `at most ${Math.min(...most)} jobs in the queue (MaxSubmitJobs): set \`limits: { clusters: { slurm: ${Math.min(...most)} } }\` in the profile`,
          ]),
      ...(maxjobs || grpjobs ? [`at most ${maxjobs || grpjobs} running jobs (MaxJobs): others wait`] : []),
      ...(maxwall ? [`jobs of at most ${maxwall} (MaxWall): longer ones wait forever`] : []),
      ...(qos ? [`qos ${qos}`] : []),
    ];
    const where = partition ? `account ${account} in partition ${partition}` : `account ${account}`;
    return `${where}: ${parts.length === 0 ? 'no limits of its own' : parts.join('; ')}`;
  });
}
