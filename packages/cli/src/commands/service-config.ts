import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { authorityPath, type ConfigEdit, editConfigFile, type ServiceConfig } from '@sluice/service';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { wholeMessage } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { parseConfigEdit } from '../hosting/parse-config-edit.ts';
import { parseServiceConfigText, readServiceConfig } from '../hosting/read-service-config.ts';
import type { JsonValue } from '../json/json-values.ts';
import { renderValue } from '../json/render-value.ts';
import { renderTable } from '../text/render-table.ts';

/** Options of the commands that read or edit the configuration of a service. */
export interface ServiceConfigOptions extends GlobalOptions {
  /** Path of the configuration, relative to the working directory. */
  readonly config: string;
  /** For a new cluster: one `id,field=value,…` per instance type. */
  readonly instanceType?: readonly string[];
}

/** The parts of a configuration that can be listed. */
export type ConfigTable = 'accounts' | 'clusters' | 'instanceTypes';

/** `sluice admin account|cluster|instance-type list`: lists entries of the configuration file. */
export async function listConfig(
  table: ConfigTable,
  context: CommandContext,
  options: ServiceConfigOptions,
): Promise<number> {
  const config = readServiceConfig(options.config, context);
  if (!config.ok) return reject(config.error, { context, options });
  const { clusters } = config.value.service;
  context.terminal.out(options.json === true ? renderEntries(table, clusters) : renderConfigTable(table, clusters));
  return EXIT_CODE.ok;
}

function renderEntries(table: ConfigTable, clusters: ServiceConfig['clusters']): string {
  const each = (render: (cluster: ServiceConfig['clusters'][number]) => readonly string[]) =>
    clusters.flatMap(render).join('');
  switch (table) {
    case 'clusters':
      return each(({ id: clusterId, engine, accounts, instanceTypes }) => {
        const counts = { accounts: accounts.length, instanceTypes: instanceTypes.length };
        return [renderValue('cluster', { clusterId, engine, ...counts })];
      });
    case 'accounts':
      return each(({ id: clusterId, accounts }) =>
        accounts.map((accountId) => renderValue('account', { clusterId, accountId })),
      );
    case 'instanceTypes':
      return each(({ id: clusterId, instanceTypes }) =>
        instanceTypes.map(({ id, cpu, memory, gpu, cpuModel, gpuModel }) =>
          renderValue('instanceType', {
            ...{ clusterId, instanceType: id, cpu, memory, gpu },
            ...(cpuModel !== undefined && { cpuModel }),
            ...(gpuModel !== undefined && { gpuModel }),
          }),
        ),
      );
  }
}

function renderConfigTable(table: ConfigTable, clusters: ServiceConfig['clusters']): string {
  switch (table) {
    case 'clusters': {
      const rows = clusters.map(({ id, engine, accounts, instanceTypes }) => [
        ...[id, engine, String(accounts.length), String(instanceTypes.length)],
      ]);
      return renderTable([['ID', 'ENGINE', 'ACCOUNTS', 'TYPES'], ...rows]);
    }
    case 'accounts':
      return renderTable([
        ['ACCOUNT'],
        ...clusters.flatMap(({ id, accounts }) => accounts.map((one) => [`${id}/${one}`])),
      ]);
    case 'instanceTypes': {
      const rows = clusters.flatMap(({ id: cluster, instanceTypes }) =>
        instanceTypes.map(({ id, cpu, memory, gpu, cpuModel = '', gpuModel = '' }) => [
          ...[`${cluster}/${id}`, String(cpu), memory, String(gpu), cpuModel, gpuModel],
        ]),
      );
      return renderTable([['TYPE', 'CPU', 'MEMORY', 'GPU', 'CPU MODEL', 'GPU MODEL'], ...rows]);
    }
  }
}

/**
 * `sluice admin account|cluster|instance-type add|remove`: edits the file, unless the result would be invalid. A running
 * service applies it when it reloads.
 */
export async function editServiceConfig(
  { type, words }: { readonly type: ConfigEdit['type']; readonly words: readonly string[] },
  context: CommandContext,
  options: ServiceConfigOptions,
): Promise<number> {
  const edit = parseConfigEdit({ type, words, instanceTypes: options.instanceType ?? [] });
  if (!edit.ok) return reject(edit.error, { context, options });
  const before = readServiceConfig(options.config, context);
  if (!before.ok) return reject(before.error, { context, options });
  const path = resolve(context.cwd, options.config);
  let faults: readonly string[] = [];
  const check = (text: string) => {
    const parsed = parseServiceConfigText(text, { file: options.config, directory: dirname(path) });
    if (!parsed.ok) faults = wholeMessage(parsed.error).split('\n');
    return parsed.ok ? undefined : 'the result would be invalid; the file is unchanged:';
  };
  const edited = await editConfigFile(path, { edit: edit.value, check });
  if (!edited.ok) {
    const message = `could not change ${options.config}: ${edited.message}`;
    return reject({ exitCode: EXIT_CODE.rejected, message, lines: faults }, { context, options });
  }
  context.terminal.out(
    options.json === true
      ? renderValue('change', describeEdit(edit.value))
      : `changed ${options.config}; reload a running service to apply it (SIGHUP, or: systemctl reload sluice)\n`,
  );
  return EXIT_CODE.ok;
}

function describeEdit(edit: ConfigEdit): JsonValue<'change'> {
  const action = edit.type.startsWith('add') ? 'add' : 'remove';
  const id = 'fields' in edit ? String(edit.fields.id) : '';
  switch (edit.type) {
    case 'addCluster':
      return { resource: 'cluster', action, clusterId: id };
    case 'removeCluster':
      return { resource: 'cluster', action, clusterId: edit.clusterID };
    case 'addAccount':
    case 'removeAccount':
      return { resource: 'account', action, clusterId: edit.clusterID, accountId: edit.accountID };
    case 'addInstanceType':
      return { resource: 'instanceType', action, clusterId: edit.clusterID, instanceType: id };
    case 'removeInstanceType':
      return { resource: 'instanceType', action, clusterId: edit.clusterID, instanceType: edit.typeId };
  }
}

/** `sluice admin certificate`: prints the path of the certificate that clients of containers' ports must trust. */
export async function showCertificate(context: CommandContext, options: ServiceConfigOptions): Promise<number> {
  const config = readServiceConfig(options.config, context);
  if (!config.ok) return reject(config.error, { context, options });
  const { root, ports } = config.value.service;
  const path = authorityPath(root);
  const fault =
    ports === undefined
      ? `${options.config} exposes no ports; add \`ports\``
      : ports.tls !== undefined
        ? `${options.config} sets its own certificate for ports; clients must trust its issuer`
        : existsSync(path)
          ? undefined
          : `${path} does not exist yet; the service creates it when it first starts`;
  if (fault !== undefined) {
    const message = `could not find the certificate of the authority: ${fault}`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  }
  context.terminal.out(options.json === true ? renderValue('certificate', { path }) : `${path}\n`);
  return EXIT_CODE.ok;
}
