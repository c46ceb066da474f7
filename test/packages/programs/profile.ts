import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { type Connection, execute, openService, pipeline } from 'sluice';

writeFileSync('site.yaml', 'limits: { instanceTypes: { none: 1 } }\n');
const service: Connection = await openService({ profile: './site.yaml' });
assert.deepEqual(service.limits, { instanceTypes: { none: 1 } });
const p = pipeline('twice');
p.step('a', { command: ['true'] });
for (let i = 0; i < 2; i++) assert.equal((await execute(p, { service })).status, 'succeeded');
await service.close();
