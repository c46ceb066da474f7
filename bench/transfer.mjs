// One large file up and down over WebDAV and SFTP, beside cp, nginx's WebDAV and OpenSSH's own SFTP server in the same
// run: MB/s (the best of the rounds), and the peak memory of our server.
//
//   node bench/transfer.mjs [--megabytes 1024] [--rounds 3] [--only REGEXP]
//
// Needs curl, sftp, lftp, rclone, nginx with its dav module, and sshd; what is missing is said and left out. Client and server share
// the machine, as in all figures here.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openLocalAuthority } from '../packages/service/dist/proxy/local-authority.js';
import { createSftpServer, generateHostKey } from '../packages/service/dist/volumes/sftp/sftp-server.js';
import { createWebDavHandler } from '../packages/service/dist/volumes/webdav/webdav-handler.js';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1024' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '.' },
    serve: { type: 'string' },
  },
});

if (values.serve === undefined) await compare();
else await serve(values.serve);

async function compare() {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-transfer-'));
  const stops = [];
  // Also when interrupted: servers and gigabytes must not stay behind.
  process.on('exit', () => {
    for (const stop of stops) stop();
    rmSync(directory, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
  const file = join(directory, 'file');
  writeRandom(file, Number(values.megabytes));
  chmodSync(directory, 0o755);
  const ours = await startOurs(directory, stops);
  const theirs = { ...(await startNginx(directory, stops)), ...(await startSshd(directory, stops)) };
  console.log(`${'MB/s'.padEnd(42)} ${'up'.padStart(7)} ${'down'.padStart(7)}`);
  measureAll({ file, directory, ours, theirs });
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${ours.pid}/status`, 'utf8'))?.[1];
  console.log(`peak memory of our server, all of the above in one process: ${Math.round(Number(peak) / 1024)} MiB`);
  process.exit();
}

function writeRandom(path, megabytes) {
  const block = Buffer.alloc(1_000_000);
  for (let index = 0; index < block.length; index += 4) block.writeUInt32LE((Math.random() * 2 ** 32) >>> 0, index);
  const file = openSync(path, 'w');
  for (let index = 0; index < megabytes; index += 1) writeSync(file, block);
  closeSync(file);
}

/** Contestants with `up(file)` and `down(to)`, each a command line. */
function measureAll({ file, directory, ours, theirs }) {
  const out = join(directory, 'out');
  const curl = (url, ...more) => ({
    up: ['curl', '-sSfk', '-u', 'data:secret', '-H', 'Expect:', ...more, '-T', file, url],
    down: ['curl', '-sSfk', '-u', 'data:secret', ...more, '-o', out, url],
  });
  const sftp = (options, cipher, target) => ({
    up: ['sftp', ...options, `-oCiphers=${cipher}`, '-b', batch(directory, `put ${file} file-up`), target],
    down: ['sftp', ...options, `-oCiphers=${cipher}`, '-b', batch(directory, `get file-up ${out}`), target],
  });
  const contestants = {
    cp: { up: ['cp', file, join(directory, 'copy')], down: ['cp', join(directory, 'copy'), out] },
    'WebDAV, http, ours': curl(`${ours.http}/file`),
    ...(theirs.nginxHttp ? { 'WebDAV, http, nginx': curl(`${theirs.nginxHttp}/file`) } : {}),
    'WebDAV, https, ours': curl(`${ours.https}/file-tls`),
    ...(theirs.nginxHttps ? { 'WebDAV, https, nginx': curl(`${theirs.nginxHttps}/file-tls`) } : {}),
  };
  for (const cipher of ['aes128-gcm@openssh.com', 'aes128-ctr']) {
    contestants[`SFTP, ${cipher}, ours`] = sftp(ours.sshOptions, cipher, 'data@127.0.0.1');
    if (theirs.sshOptions) {
      contestants[`SFTP, ${cipher}, OpenSSH`] = sftp(
        theirs.sshOptions,
        cipher,
        `${userInfo().username}@127.0.0.1:${directory}`,
      );
    }
  }
  if (has('lftp') !== '') {
    contestants['SFTP, lftp, ours'] = lftpAt(`data,secret -p ${ours.sftpPort}`, sshOptions(ours.sftpPort), {
      file,
      out,
    });
    if (theirs.sshOptions) {
      const login = `${userInfo().username},none -p ${theirs.sshPort}`;
      contestants['SFTP, lftp, OpenSSH'] = lftpAt(login, theirs.sshOptions, { file, out, at: directory });
    }
  }
  if (has('rclone') !== '') contestants['SFTP, rclone, ours'] = rcloneAt(ours.sftpPort, { file, out });
  for (const [name, { up, down }] of Object.entries(contestants)) {
    if (!new RegExp(values.only).test(name)) continue;
    const row = { name, up: 0, down: 0 };
    for (let round = 0; round < Number(values.rounds); round += 1) {
      row.up = Math.max(row.up, timed(up, file, ours.env));
      row.down = Math.max(row.down, timed(down, file, ours.env));
      if (spawnSync('cmp', [file, out]).status !== 0) throw new Error(`${name} gave another file back`);
      rmSync(out);
    }
    console.log(`${name.padEnd(42)} ${row.up.toFixed(0).padStart(7)} ${row.down.toFixed(0).padStart(7)}`);
  }
}

function lftpAt(login, options, { file, out, at = '' }) {
  const program = ['ssh -a -x', ...options.filter((option) => !option.startsWith('-P'))].join(' ');
  const script = (command) => [
    ...['set sftp:auto-confirm yes', 'set net:max-retries 1'],
    `set sftp:connect-program "${program}"`,
    `open -u ${login} sftp://127.0.0.1`,
    command,
  ];
  return {
    up: ['lftp', '-c', script(`put ${file} -o ${at}/lftp-up`).join('; ')],
    down: ['lftp', '-c', script(`get ${at}/lftp-up -o ${out}`).join('; ')],
  };
}

function rcloneAt(port, { file, out }) {
  const password = spawnSync('rclone', ['obscure', 'secret'], { encoding: 'utf8' }).stdout.trim();
  const remote = `:sftp,host=127.0.0.1,port=${port},user=data,pass=${password}:rclone-up`;
  return { up: ['rclone', 'copyto', '--ignore-times', file, remote], down: ['rclone', 'copyto', remote, out] };
}

function batch(directory, text) {
  const path = join(directory, `batch-${text.slice(0, 3)}`);
  writeFileSync(path, `${text}\n`);
  return path;
}

function timed([program, ...args], file, env) {
  const begin = performance.now();
  const run = spawnSync(program, args, { env: { ...process.env, ...env }, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${run.status}: ${run.stderr}`);
  return statSync(file).size / 1e3 / (performance.now() - begin);
}

async function startOurs(directory, stops) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--serve', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stops.push(() => child.kill());
  const [line] = await new Promise((resolve) => child.stdout.once('data', (data) => resolve(String(data).split('\n'))));
  const ports = JSON.parse(line);
  const askpass = join(directory, 'askpass');
  writeFileSync(askpass, '#!/bin/sh\necho secret\n', { mode: 0o755 });
  return {
    pid: child.pid,
    http: `http://127.0.0.1:${ports.http}`,
    https: `https://127.0.0.1:${ports.https}`,
    sftpPort: ports.sftp,
    sshOptions: [...sshOptions(ports.sftp), '-oPreferredAuthentications=password', '-oBatchMode=no'],
    env: { SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':0' },
  };
}

function sshOptions(port) {
  return [`-P${port}`, '-oStrictHostKeyChecking=no', '-oUserKnownHostsFile=/dev/null', '-oLogLevel=ERROR'];
}

/** The process that is measured. */
async function serve(directory) {
  const root = join(directory, 'volume');
  mkdirSync(root);
  const session = {
    clusterID: 'c',
    accountID: 'a',
    volumeID: 'v',
    root,
    propertiesPath: join(directory, 'properties.json'),
  };
  const access = {
    authenticate: async (username, password) => (username === 'data' && password === 'secret' ? session : undefined),
    onRevoked: () => () => undefined,
  };
  const dav = createWebDavHandler(access);
  const certificate = await openLocalAuthority(join(directory, 'authority'), { domain: 'localhost' });
  const listen = (server) =>
    new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
  const http = createHttpServer(dav);
  const https = createHttpsServer(certificate, dav);
  http.requestTimeout = https.requestTimeout = 0;
  const sftp = createSftpServer(access, { hostKey: generateHostKey() });
  const { port } = await sftp.listen({ host: '127.0.0.1', port: 0 });
  console.log(JSON.stringify({ http: await listen(http), https: await listen(https), sftp: port }));
}

function has(program) {
  const found = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).stdout.trim();
  if (found === '') console.error(`${program} is not installed: left out`);
  return found;
}

function freePort() {
  return new Promise((resolve) => {
    const server = createTcpServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function startNginx(directory, stops) {
  if (has('nginx') === '') return {};
  const at = join(directory, 'nginx');
  mkdirSync(join(at, 'root'), { recursive: true });
  const [http, https] = [await freePort(), await freePort()];
  const certificate = await openLocalAuthority(join(directory, 'nginx-authority'), { domain: 'localhost' });
  writeFileSync(join(at, 'key.pem'), certificate.key);
  writeFileSync(join(at, 'cert.pem'), certificate.cert);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${at}/${name};`);
  writeFileSync(
    join(at, 'nginx.conf'),
    `daemon off; pid ${at}/pid; error_log ${at}/error.log; worker_processes 1; ${process.getuid() === 0 ? 'user root;' : ''}
     events {} http { access_log off; sendfile on; client_max_body_size 0; ${paths.join(' ')}
     server { listen 127.0.0.1:${http}; listen 127.0.0.1:${https} ssl;
       ssl_certificate ${at}/cert.pem; ssl_certificate_key ${at}/key.pem;
       location / { root ${at}/root; dav_methods PUT DELETE; } } }`,
  );
  const child = spawn('nginx', ['-c', join(at, 'nginx.conf'), '-p', at], { stdio: ['ignore', 'ignore', 'inherit'] });
  stops.push(() => child.kill());
  await until(() => spawnSync('curl', ['-s', '-o', '/dev/null', `http://127.0.0.1:${http}/`]).status === 0);
  return { nginxHttp: `http://127.0.0.1:${http}`, nginxHttps: `https://127.0.0.1:${https}` };
}

async function startSshd(directory, stops) {
  const sshd = has('sshd');
  if (sshd === '') return {};
  const at = join(directory, 'sshd');
  mkdirSync(at);
  // Where sshd was installed but never started, the directory that it locks itself into is missing.
  if (process.getuid() === 0) mkdirSync('/run/sshd', { recursive: true });
  for (const name of ['host', 'user']) spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(at, name)]);
  const port = await freePort();
  const options = [
    `-oHostKey=${at}/host`,
    `-oAuthorizedKeysFile=${at}/user.pub`,
    '-oStrictModes=no',
    '-oUsePAM=no',
    '-oPidFile=none',
    '-oPermitRootLogin=yes',
    '-oSubsystem=sftp internal-sftp',
  ];
  const child = spawn(sshd, ['-D', '-f', '/dev/null', '-p', String(port), '-oListenAddress=127.0.0.1', ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  stops.push(() => child.kill());
  await until(() => spawnSync('ssh-keyscan', ['-p', String(port), '127.0.0.1']).stdout.length > 0);
  const key = ['-i', join(at, 'user'), '-oPreferredAuthentications=publickey'];
  return { sshPort: port, sshOptions: [...sshOptions(port), ...key] };
}

async function until(condition) {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('a server for comparison did not start within 5 s');
}
