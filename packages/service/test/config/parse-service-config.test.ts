import { describe, expect, it } from 'vitest';
import { parseServiceConfig } from '../../src/config/parse-service-config.ts';

const GOOD = `
root: data
clusters:
  - id: here
    engine: process
    capacity: { cpu: 4, memory: 8GB }
    accounts: [team]
    instanceTypes:
      - { id: small, cpu: 1, memory: 2GB }
listen:
  - { host: 127.0.0.1, port: 8080 }
`;

const problems = (text: string) => {
  const result = parseServiceConfig(text, '/srv');
  if (result.ok) throw new Error('the configuration was accepted');
  return result.problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
};

describe('parseServiceConfig', () => {
  it('applies defaults and resolves paths from the file’s directory', () => {
    const result = parseServiceConfig(GOOD, '/srv');
    expect(result).toMatchObject({
      ok: true,
      value: {
        root: '/srv/data',
        retention: { containers: '7d' },
        login: { tokenHeader: 'svc_token', tokenLifetime: '30d' },
      },
    });
  });

  it('reports all problems with their positions, and the nearest names', () => {
    const text = GOOD.replace('engine:', 'engin:').replace('cpu: 1', 'cpu: one').replace('listen:', 'lisen:');
    expect(problems(text)).toEqual([
      expect.stringMatching(/^4:5 .*is missing; it must be a text/),
      "5:5 the field 'engin' is unknown; the nearest known field is 'engine'",
      expect.stringMatching(/^9:27 .*number/),
      "10:1 the field 'lisen' is unknown; the nearest known field is 'listen'",
    ]);
  });

  it('rejects a retention without a unit, and one of no time', () => {
    const text = `${GOOD}retention: { containers: 7, volumes: 0d }\n`;
    expect(problems(text)).toEqual([
      expect.stringMatching(/^12:26 .*a duration with its unit/),
      expect.stringMatching(/^12:38 .*at least 1ms/),
    ]);
  });

  it('rejects options of an engine that has none, at each of them', () => {
    const text = GOOD.replace('    capacity', '    options: { runtime: runsc }\n    capacity').replace(
      'memory: 2GB }',
      'memory: 2GB, options: { partition: x } }',
    );
    const message = "the engine 'process' has no options; remove it, or use docker or slurm";
    expect(problems(text)).toEqual([`6:25 ${message}`, `10:65 ${message}`]);
  });

  it('rejects options that the engine would ignore, and those that it would reject later', () => {
    const withOptions = (engine: string, ofCluster: string, ofType: string) =>
      GOOD.replace('engine: process', `engine: ${engine}\n    options: ${ofCluster}`).replace(
        'memory: 2GB }',
        `memory: 2GB, options: ${ofType} }`,
      );
    const good = '{ partition: gpu, qos: high, timeLimit: 60m }';
    expect(parseServiceConfig(withOptions('slurm', '{ runtime: podman, pollInterval: 500ms }', good), '/srv').ok).toBe(
      true,
    );
    expect(parseServiceConfig(withOptions('docker', '{ pollInterval: 500ms }', '{}'), '/srv').ok).toBe(true);
    expect(problems(withOptions('docker', '{ pollInterval: often }', '{ runtime: runsc }'))).toEqual([
      expect.stringMatching(/^\d+:\d+ must be a duration/),
      expect.stringMatching(/^\d+:\d+ instance types of the engine 'docker' have no option 'runtime'; remove it$/),
    ]);
    expect(problems(withOptions('slurm', '{ runtime: runc }', '{ partition: 7, wrap: gpu }'))).toEqual([
      expect.stringMatching(/^\d+:\d+ must be none, podman, apptainer or charliecloud$/),
      expect.stringMatching(/^\d+:\d+ must be a text/),
      expect.stringMatching(/^\d+:\d+ instance types of the engine 'slurm' have no option 'wrap'; remove it$/),
    ]);
  });

  it('rejects sizes without a unit, and memory below a GB', () => {
    expect(problems(GOOD.replace('memory: 2GB', 'memory: 2'))).toEqual([expect.stringMatching(/^9:\d+ /)]);
    expect(problems(GOOD.replace('memory: 2GB', 'memory: 512MB'))).toEqual([
      expect.stringMatching(/^9:\d+ must be at least 1GB$/),
    ]);
  });

  it('rejects several accounts on clusters that share a user, and accepts one on all of them', () => {
    const other = (account: string, engine = 'process') =>
      GOOD.replace(
        'listen:',
        `  - { id: other, engine: ${engine}, accounts: [${account}], instanceTypes: [{ id: s, cpu: 1, memory: 1GB }] }\nlisten:`,
      );
    expect(parseServiceConfig(other('team'), '/srv').ok).toBe(true);
    expect(parseServiceConfig(other('others', 'docker'), '/srv').ok).toBe(true);
    expect(problems(other('others'))).toEqual([
      expect.stringMatching(/^10:\d+ the engine 'process' .*give it one account, which is 'team' on another cluster$/),
    ]);
    expect(problems(other('others', 'local'))).toHaveLength(1);
  });

  it('rejects a grace period longer than a timer can be', () => {
    expect(parseServiceConfig(`${GOOD}cancelGrace: 23d\n`, '/srv').ok).toBe(true);
    expect(problems(`${GOOD}cancelGrace: 24d\n`)).toEqual([expect.stringMatching(/^12:\d+ .*at most 23d/)]);
  });

  it('rejects several accounts on an engine that does not isolate them', () => {
    expect(problems(GOOD.replace('[team]', '[team, others]'))).toEqual([
      expect.stringMatching(/^7:15 the engine 'process' .*give it one account$/),
    ]);
  });

  it('reports where the text is not YAML, and rejects nesting that would overflow the parser', () => {
    expect(problems('root: [1')).toEqual([expect.stringMatching(/^1:\d+ /)]);
    expect(problems('['.repeat(5000))).toEqual(['1:1 the file is nested deeper than 64']);
  });
});
