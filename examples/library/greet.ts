// A program of one's own that builds a pipeline and runs it on a service (docs/library.md). Try: `greet.outputs.txt`, or
// `p.params.name`: it does not compile.
import { createHttpService, createPlan, type Login, pipeline, startRun, unwrap } from 'sluice';

const p = pipeline('greetings', { params: { names: ['Ada', 'Grace'] } });
const greet = p.matrix('greet', { name: p.params.names }, ({ name }) => ({
  command: ['sh', '-c', 'echo "hello $0" > /out/text', name],
  outputs: { text: '/out' },
}));
const join = p.step('join', {
  inputs: { texts: greet.outputs.text },
  script: 'cat /in/texts/*/text | tee /sluice/results/all',
  results: { all: 'string' },
});
p.finally('tell', { command: ['echo', p.run.status], needs: [join] });

/** Greets everyone, on the cluster and account that the service names first, and gives back what was said. */
export async function greetAll(names: readonly string[], at: { baseUrl: string; login: Login; home: string }) {
  const { pipeline: checked } = unwrap(p.build());
  const service = createHttpService(at);
  const [scope] = await service.discovery.listAccounts('-');
  if (scope === undefined) throw new Error(`${at.login.email} has no account on ${at.baseUrl}`);
  const plan = unwrap(createPlan(checked, { params: { names } }));
  const run = unwrap(await startRun({ plan, service, scope, home: at.home, baseDir: import.meta.dirname }));
  const report = await run.finished;
  await service.close();
  return { status: report.status, said: report.steps.find(({ name }) => name === join.name)?.cells[0]?.results.all };
}
