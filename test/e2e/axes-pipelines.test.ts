import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createWorkplace } from './workplace-rig.ts';

/**
 * The pipelines that core plans in its tests, run with one program for all steps: it writes the name of its cell to all of its
 * outputs and results, and reports whose names it finds in its inputs. `NAME.txt` has what each cell has read.
 * UPDATE_TESTDATA=1 writes it; review what it has written.
 */
const PIPELINES = new URL('../../packages/core/test/plan/axes-pipelines/', import.meta.url);
const EXPECTED = new URL('axes-pipelines/', import.meta.url);

const RESULTS: Readonly<Record<string, string>> = {
  // A sample with few reads, for the filters.
  'trim/S2': 'echo 5 > $SLUICE_RESULTS/reads',
  'trim/*': 'echo 100 > $SLUICE_RESULTS/reads',
  'align/*': 'echo 100 > $SLUICE_RESULTS/mapped',
  'info/SRR1': `echo '[{"accession": "R1", "ftp": "a"}, {"accession": "R2", "ftp": ""}]' > $SLUICE_RESULTS/runs`,
  'info/*': `echo '[{"accession": "R3", "ftp": ""}]' > $SLUICE_RESULTS/runs`,
};

const PROGRAM = `
seen=
for input in /in/*; do
  for file in $(find -L "$input" -type f -name cell | sort); do seen="$seen, \\"\${input##*/}: $(cat "$file")\\""; done
done
echo "[\${seen#, }]" > $SLUICE_RESULTS/seen
for output in /out/*; do [ ! -d "$output" ] || echo "$SLUICE_STEP/$SLUICE_CELL" > "$output/cell"; done
case "$SLUICE_STEP/$SLUICE_CELL" in
${Object.entries(RESULTS)
  .map(([cell, command]) => `${cell}) ${command};;`)
  .join('\n')}
esac
`;

interface Document {
  readonly steps: Record<string, { command?: string[]; results?: Record<string, string> }>;
}

/** The pipeline as JSON, with the program as the command of each step. */
function withProgram(name: string): string {
  const pipeline = parse(readFileSync(new URL(`${name}.yaml`, PIPELINES), 'utf8')) as Document;
  for (const step of Object.values(pipeline.steps)) {
    step.command = ['sh', '-c', PROGRAM];
    step.results = { ...step.results, seen: 'array' };
  }
  return JSON.stringify(pipeline);
}

const names = readdirSync(PIPELINES).flatMap((file) =>
  file.endsWith('.yaml') ? [file.slice(0, -'.yaml'.length)] : [],
);

test.each(names)('%s: each cell reads what is written down', async (name) => {
  const place = createWorkplace();
  try {
    writeFileSync(join(place.directory, 'pipeline.yaml'), withProgram(name));
    expect(await place.sluice('run', '--cpu', '16')).toMatchObject({ exitCode: 0 });
    const { steps } = await place.show((await place.runs())[0]!.runId);
    const lines = steps.flatMap(({ step, cells }) =>
      cells.map(({ cell, status, results }) => {
        const seen = (results.seen ?? []) as readonly string[];
        return [`${step}/${cell} ${status}`, ...seen.map((one) => `  ${one}`)].join('\n');
      }),
    );
    const text = `${lines.join('\n')}\n`;
    const expected = new URL(`${name}.txt`, EXPECTED);
    if (process.env.UPDATE_TESTDATA === '1') writeFileSync(expected, text);
    expect(text).toBe(readFileSync(expected, 'utf8'));
  } finally {
    place.remove();
  }
});
