import { expect, test } from 'vitest';
import { findUserDirectories } from '../../src/home/user-directories.ts';

test('findUserDirectories follows the variables of XDG, else the home directory', () => {
  expect(findUserDirectories({ HOME: '/home/ada' })).toEqual({
    profiles: '/home/ada/.config/sluice/profiles',
    trusted: '/home/ada/.local/state/sluice/trusted',
  });
  expect(findUserDirectories({ HOME: '/home/ada', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' })).toEqual({
    profiles: '/c/sluice/profiles',
    trusted: '/s/sluice/trusted',
  });
});

test('findUserDirectories never takes a place that depends on the working directory', () => {
  expect(findUserDirectories({ HOME: '/h', XDG_CONFIG_HOME: '.config' })?.profiles).toBe('/h/.config/sluice/profiles');
  expect(findUserDirectories({ HOME: '.' })).toBeUndefined();
  expect(findUserDirectories({ HOME: '' })).toBeUndefined();
  expect(findUserDirectories({})).toBeUndefined();
});
