import { expect, test } from 'vitest';
import { findUserDirectories } from '../../src/home/user-directories.ts';

test('findUserDirectories follows the variables of XDG, else the home directory', () => {
  expect(findUserDirectories({ HOME: '/home/ada' })).toEqual({
    profile: '/home/ada/.config/sluice/profile.yaml',
    trusted: '/home/ada/.local/state/sluice/trusted',
  });
  expect(findUserDirectories({ HOME: '/home/ada', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' })).toEqual({
    profile: '/c/sluice/profile.yaml',
    trusted: '/s/sluice/trusted',
  });
});

test('findUserDirectories never takes a place that depends on the working directory', () => {
  expect(findUserDirectories({ HOME: '/h', XDG_CONFIG_HOME: '.config' })?.profile).toBe(
    '/h/.config/sluice/profile.yaml',
  );
  expect(findUserDirectories({ HOME: '.' })).toBeUndefined();
  expect(findUserDirectories({ HOME: '' })).toBeUndefined();
  expect(findUserDirectories({})).toBeUndefined();
});
