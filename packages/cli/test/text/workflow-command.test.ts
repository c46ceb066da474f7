import { expect, test } from 'vitest';
import { foldForGithub } from '../../src/text/fold-for-github.ts';
import { workflowCommand } from '../../src/text/workflow-command.ts';

test('workflowCommand encodes what would end a command, a property or a line', () => {
  expect(workflowCommand('endgroup')).toBe('::endgroup::\n');
  expect(workflowCommand('error', '50 % of a:b,c\r\n::error::d')).toBe('::error::50 %25 of a:b,c%0D%0A::error::d\n');
  expect(workflowCommand('warning', 'm', { file: 'a,b::c.yaml', line: 3, col: undefined, title: '%\n' })).toBe(
    '::warning file=a%2Cb%3A%3Ac.yaml,line=3,title=%25%0A::m\n',
  );
});

test('foldForGithub lets the text contain no commands', () => {
  expect(foldForGithub('fit: exit code 3', { text: '::error::no\n', token: 't1' })).toBe(
    ['::group::fit: exit code 3', '::stop-commands::t1', '::error::no', '::t1::', '::endgroup::', ''].join('\n'),
  );
});
