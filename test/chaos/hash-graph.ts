import { createHash } from 'node:crypto';

/** A pipeline whose every output is a hash of its inputs, so that the last one stands for all of them. */
export interface HashGraph {
  /** The pipeline file. */
  readonly text: string;
  readonly names: readonly string[];
  /** What a run must publish. */
  readonly final: string;
}

/**
 * `layers` rows of `width` steps, each reading three of the row before, and a last step that reads the last row. A step
 * overwrites the first of its inputs, which is a private copy: another step that found that would yield another hash. It
 * adds one line to the ledger as the first thing it does, and some take a moment, so that kills meet them running.
 */
export function createHashGraph({ layers, width }: { layers: number; width: number }): HashGraph {
  const hashes = new Map<string, string>();
  const steps: Record<string, unknown> = {};
  const add = (name: string, producers: readonly string[], seconds: number) => {
    const read = producers.map((producer) => hashes.get(producer)!);
    hashes.set(name, sha256(`${read.join('')}${name}`));
    steps[name] = {
      command: ['sh', '-c', WORK, 'sh', name, '${{ run.id }}', '${{ attempt }}', String(seconds), ...producers],
      resources: { cpu: 1 },
      inputs: { ledger: { from: 'volumes.ledger', path: '/ledger', writable: true }, ...inputsFrom(producers) },
      outputs: { out: '/out' },
      retry: 0,
      // Far more than a step takes, and less than the clocks of the machines jump.
      timeout: '1h',
    };
  };
  for (let layer = 0; layer < layers; layer++) {
    for (let column = 0; column < width; column++) {
      const columns = [...new Set([column, (column + 1) % width, (column * 3 + layer) % width])].sort((a, b) => a - b);
      const producers = layer === 0 ? [] : columns.map((at) => nameOf(layer - 1, at));
      add(nameOf(layer, column), producers, ((layer * 7 + column * 3) % 5) / 10);
    }
  }
  const lastRow = Array.from({ length: width }, (_, column) => nameOf(layers - 1, column));
  add('final', lastRow, 0);
  const text = JSON.stringify({
    version: 1,
    name: 'chaos',
    volumes: { ledger: { retain: true } },
    steps,
    outputs: { out: { from: 'final.out', publish: './results' } },
  });
  return { text, names: Object.keys(steps), final: hashes.get('final')! };
}

/** Name, run, attempt, seconds, producers. One short write at the end of a file is never torn or lost. */
const WORK = `
name=$1 run=$2 attempt=$3 seconds=$4
shift 4
echo "$run $name $attempt" >> /ledger/lines
sleep "$seconds"
{ for producer; do cat "/in/$producer/hash"; done; printf %s "$name"; } | sha256sum | cut -c1-64 | tr -d '\\n' > /out/hash
[ $# -eq 0 ] || echo changed > "/in/$1/hash"
`;

function inputsFrom(producers: readonly string[]): Record<string, unknown> {
  const inputs = producers.map((producer, index) => {
    const from = `${producer}.out`;
    return [producer, index === 0 ? { from, writable: true } : from] as const;
  });
  return Object.fromEntries(inputs);
}

function nameOf(layer: number, column: number): string {
  return `s-${String(layer).padStart(2, '0')}-${String(column).padStart(2, '0')}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
