// A program that builds a pipeline and runs it (docs/library.md). Without a service it uses the one that is part of Sluice.
// Try `greet.outputs.txt` or `p.params.name`: it does not compile.
import { type Connection, pipeline, run } from 'sluice';

const p = pipeline('greetings', { params: { names: ['Ada', 'Grace'] } });
const greet = p.step('greet', { matrix: { name: p.params.names } }, ({ matrix }) => ({
  command: ['sh', '-c', 'echo "hello $0" > /out/text', matrix.name],
  outputs: { text: '/out' },
}));
const join = p.step('join', {
  inputs: { texts: greet.outputs.text },
  script: 'cat /in/texts/*/text | tee /sluice/results/all',
  results: { all: 'string' },
});
p.step('tell', { final: true, command: ['echo', p.run.status], needs: join });

/** Greets everyone and returns the text. */
export async function greetAll(names: readonly string[], options: { home?: string; service?: Connection } = {}) {
  const started = await run(p, { ...options, params: { names } });
  const result = await started.finished;
  return { status: result.status, said: result.of(join).all };
}
