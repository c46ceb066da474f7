/** What the containers of a group with room for one run say about when they ran. */
export interface GroupLedgerCheck {
  readonly containers: number;
  /** Two containers of different runs that lived at the same time. */
  readonly overlaps: readonly string[];
  /** Containers that have begun and not ended. */
  readonly unended: readonly string[];
}

/** Run, step, attempt, and the uptime of the machine, which no clock moves. */
const WORK = `
tell() { read -r uptime rest < /proc/uptime; echo "$1 $2 $3 $4 $uptime" >> /ledger/lines; }
tell begin "$@"
sleep 1
tell end "$@"
`;

const STEP = {
  resources: { cpu: 1 },
  inputs: { ledger: { from: 'volumes.ledger', path: '/ledger', writable: true } },
  retry: 0,
  // Far more than a step takes, and less than the clocks of the machines jump.
  timeout: '1h',
};
const command = (name: string) => ['sh', '-c', WORK, 'sh', '${{ run.id }}', name, '${{ attempt }}'];

/** A pipeline whose runs are to run one after the other. */
export const GROUP_PIPELINE = JSON.stringify({
  version: 1,
  name: 'chaos-group',
  concurrency: { group: 'one', limit: 1, overlap: 'queue' },
  volumes: { ledger: { retain: true } },
  steps: {
    first: { ...STEP, command: command('first') },
    last: { ...STEP, command: command('last'), needs: ['first'] },
  },
});

interface Interval {
  readonly run: string;
  readonly container: string;
  readonly begin: number;
  readonly end: number;
}

export function checkGroupLedger(lines: readonly string[]): GroupLedgerCheck {
  const intervals = readIntervals(lines);
  const overlaps: string[] = [];
  let latest: Interval | undefined;
  for (const one of intervals.toSorted((a, b) => a.begin - b.begin)) {
    if (latest && latest.run !== one.run && one.begin < latest.end)
      overlaps.push(`${one.container} begins ${latest.end - one.begin} s before ${latest.container} ends`);
    if (!latest || one.end >= latest.end) latest = one;
  }
  return {
    containers: intervals.length,
    overlaps,
    unended: intervals.filter(({ end }) => end === Number.POSITIVE_INFINITY).map(({ container }) => container),
  };
}

function readIntervals(lines: readonly string[]): Interval[] {
  const words = lines.map((line) => line.split(' '));
  return words.flatMap(([word, run = '', step, attempt, uptime]) => {
    if (word !== 'begin') return [];
    const isEnd = (other: readonly string[]) =>
      other[0] === 'end' && other[1] === run && other[2] === step && other[3] === attempt;
    const end = Number(words.find(isEnd)?.[4] ?? Number.POSITIVE_INFINITY);
    return [{ run, container: `${run} ${step} ${attempt}`, begin: Number(uptime), end }];
  });
}
