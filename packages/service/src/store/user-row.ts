import type { Account } from '@sluice/client';

/** A person who may log in. The password is what the wire calls so: the MD5 of the raw one, kept as scrypt only. */
export interface UserRow {
  readonly userID: string;
  readonly email: string;
  readonly name: string;
  readonly password: PasswordHash;
  /** When the password was set; tokens from before are void. */
  readonly passwordTime: number;
  readonly accounts: readonly Account[];
  readonly createTime: number;
  readonly updateTime: number;
}

/** Result of scrypt with all that is needed to repeat it; both values in base64. */
export interface PasswordHash {
  readonly salt: string;
  readonly hash: string;
  /** Cost: N is 2 to this power. */
  readonly logN: number;
}

/** A token that was given out; its row's key is the token's hash. */
export interface TokenRow {
  readonly email: string;
  readonly createTime: number;
  readonly expireTime: number;
}
