import type { Scope } from '@sluice/client';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Adds routes to the server of a listener. */
export type ServiceExtension = (
  server: FastifyInstance,
  given: {
    /**
     * Authenticates a request by its header or by `token`, and returns the ID of its user. With a scope, it also checks that the user may use the
     * account. Throws the protocol's errors, which do not reveal whether an account exists.
     */
    readonly authorize: (request: FastifyRequest, scope: Scope | undefined, token?: string) => string;
    /** The accounts of the user of a token, in a stable order; undefined if the token is not valid. */
    readonly accountsOf: (token: string) => readonly Scope[] | undefined;
    /** Issues a token for a user. `password` is the raw password. Throws the protocol's errors. */
    readonly login: (
      request: FastifyRequest,
      user: { readonly email: string; readonly password: string },
    ) => Promise<string>;
    /** Makes a token invalid, durably. Does nothing if it is not valid. */
    readonly logout: (token: string) => Promise<void>;
  },
) => Promise<void>;
