import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { own } from '@sluice/core';
import { authorityPath, type ConfigEdit, editConfigFile, type ServiceConfig } from '@sluice/service';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { refuse } from '../context/refuse.ts';
import { renderValue } from '../json/render-value.ts';
import { parseConfigEdit } from '../serving/parse-config-edit.ts';
import { parseServiceConfigText, readServiceConfig } from '../serving/read-service-config.ts';
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
  if (!config.ok) return refuse(config.error, { context, options });
  const rows = rowsOf(table, config.value.service);
  if (options.json === true) for (const row of rows) context.terminal.out(`${JSON.stringify(row)}\n`);
  else {
    const names = Object.keys(rows[0] ?? {});
    const lines = rows.map((row) => names.map((name) => String(own(row as Record<string, unknown>, name))));
    context.terminal.out(renderTable([names.map((name) => name.toUpperCase()), ...lines]));
  }
  return EXIT_CODE.ok;
}

function rowsOf(table: ConfigTable, { clusters }: ServiceConfig): readonly object[] {
  switch (table) {
    case 'clusters':
      return clusters.map(({ id, engine, accounts, instanceTypes }) => ({
        id,
        engine,
        accounts: accounts.length,
        types: instanceTypes.length,
      }));
    case 'accounts':
      return clusters.flatMap(({ id, accounts }) => accounts.map((account) => ({ account: `${id}/${account}` })));
    case 'instanceTypes':
      return clusters.flatMap(({ id: cluster, instanceTypes }) =>
        instanceTypes.map(({ id, cpu, memory, gpus, cpuModel = '', gpuModel = '' }) => ({
          type: `${cluster}/${id}`,
          ...{ cpu, memory, gpus, cpuModel, gpuModel },
        })),
      );
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
  if (!edit.ok) return refuse(edit.error, { context, options });
  const before = readServiceConfig(options.config, context);
  if (!before.ok) return refuse(before.error, { context, options });
  const path = resolve(context.cwd, options.config);
  const check = (text: string) => {
    const parsed = parseServiceConfigText(text, { file: options.config, directory: dirname(path) });
    return parsed.ok ? undefined : `the result would be invalid; the file is unchanged:\n${parsed.error.message}`;
  };
  const edited = await editConfigFile(path, { edit: edit.value, check });
  if (!edited.ok) {
    const message = `could not change ${options.config}: ${edited.message}`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  context.terminal.out(
    options.json === true
      ? `${JSON.stringify({ type: 'changed', edit: edit.value })}\n`
      : `changed ${options.config}; reload a running service to apply it (SIGHUP, or: systemctl reload sluice)\n`,
  );
  return EXIT_CODE.ok;
}

/** `sluice admin certificate`: prints the path of the certificate that clients of containers' ports must trust. */
export async function showCertificate(context: CommandContext, options: ServiceConfigOptions): Promise<number> {
  const config = readServiceConfig(options.config, context);
  if (!config.ok) return refuse(config.error, { context, options });
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
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  context.terminal.out(options.json === true ? renderValue('certificate', { path }) : `${path}\n`);
  return EXIT_CODE.ok;
}
