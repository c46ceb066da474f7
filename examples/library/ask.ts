// A service and a step that sends it a request, written in TypeScript. `asked.toJSON()` is the file for `sluice run`;
// examples/library/greet.ts shows how a program runs it. Try `web.ports.https`: it does not compile.
import { pipeline } from 'sluice';

const serve = 'require("node:http").createServer((_, reply) => reply.end("hello")).listen(process.env.BAT_PORT_http)';
const ask =
  'fetch(process.argv[1]).then((reply) => reply.text()).then((text) => require("node:fs").writeFileSync("/sluice/results/said", text))';

export const asked = pipeline('asked');
const web = asked.step('web', {
  command: ['node', '-e', serve],
  ports: { http: {} },
  service: { ready: { port: 'http', path: '/' } },
});
// It starts when `web` is ready, and `web` ends with it.
asked.step('ask', { command: ['node', '-e', ask, `${web.ports.http.url}/hello`], results: { said: 'string' } });
