// A program that builds a pipeline and runs it (docs/library.md). Without a service it uses the one that is part of Sluice.
// Try `greet.outputs.txt` or `p.params.name`: it does not compile.
import { type Connection, pipeline, run } from 'sluice';

const p = pipeline('greetings', { params: { names: ['Ada', 'Grace'] } });
const greet = p.step('greet', { matrix: { name: p.params.names } }, ({ matrix }) => ({
  command: ['sh', '-c', 'echo "hello $0" > /out/text/line', matrix.name],
  outputs: ['text'],
}));
const join = p.step('join', {
  inputs: { texts: greet.outputs.text },
  script: 'cat /in/texts/*/line | tee /sluice/results/all',
  results: { all: 'string' },
});
p.step('tell', { final: true, command: ['echo', p.run.status], needs: join });
const greetings = p.results({ all: join.results.all });

/** Greets everyone and returns the text. */
export async function greetAll(names: readonly string[], options: { home?: string; service?: Connection } = {}) {
  const started = await run(greetings, { ...options, params: { names } });
  const result = await started.finished;
  return { status: result.status, said: result.results.all };
}
