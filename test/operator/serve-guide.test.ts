import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type GuideStep, readGuide } from './read-guide.ts';
import { follow, obstacle, ROOT } from './root-rig.ts';

const why = obstacle();
if (why !== undefined) console.warn(`docs/serve.md is not followed: ${why}`);

test.skipIf(why !== undefined)(
  'docs/serve.md, followed to the letter on a root that systemd starts, leads to a service',
  async () => {
    // What the page's first step does needs the network, which is cut off inside: there it finds all done.
    expect(spawnSync('npm', ['run', 'setup'], { cwd: ROOT, encoding: 'utf8' })).toMatchObject({ status: 0 });
    const steps = readGuide(readFileSync(join(ROOT, 'docs/serve.md'), 'utf8'));
    const { status, output } = await follow([EXPLAIN, ...steps.map(renderStep), AFTERWARDS].join('\n'));
    expect(status, output.slice(-6_000)).toBe(0);
    expect(output).toMatch(/^hello$/m);
    expect(output).toContain('main/large');
    expect(output).toContain('{"ready":true,"store":"ready","engines":{"main":"ready"},"storages":{"main":"ready"}}');
    expect(output).toContain('the run of before is there');
  },
  300_000,
);

/** Why the unit does not do what the page promises is in its journal. */
const EXPLAIN = `trap 'journalctl --no-pager -n 40 -u sluice' ERR`;

/** Beyond the page: what was restored and upgraded still knows ada, her volume and her run. */
const AFTERWARDS = `
curl --silent --fail --retry 30 --retry-connrefused --retry-delay 1 --cacert /etc/sluice/cert.pem https://sluice.example.org:8443/readyz
cd ~ada/hello && sed -i s/hello/again/ pipeline.yaml && HOME=~ada runuser -u ada -- sluice run
test "$(cat results/text)" = again
runuser -u ada -- sluice runs | grep hello && echo the run of before is there
systemctl show sluice --property=User,NRestarts
test "$(stat -c %U /var/lib/sluice/data/store)" = sluice
systemctl stop sluice
`;

function renderStep(step: GuideStep): string {
  if (step.type === 'file') return `cat > ${step.path} << 'END OF FILE'\n${step.text}END OF FILE`;
  return step.text;
}
