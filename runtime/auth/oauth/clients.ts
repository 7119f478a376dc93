/** Who a client is: one that registered itself, or one that a metadata document describes. */
import type { JSONWebKeySet } from "jose";
import { isDocumentId } from "./metadata-document.js";
import type { AuthStore } from "./store.js";

/** What the endpoints need of a client. */
export interface Client {
  readonly id: string;
  /** As it calls itself; not verified. */
  readonly name: string;
  /** The site that its metadata document proves; `null` for one that registered itself. */
  readonly site: string | null;
  readonly redirectUris: readonly string[];
  /** Digest of its secret; `null` where it has none. */
  readonly secretDigest: string | null;
  /** Whether it may come without credentials. */
  readonly isPublic: boolean;
  /** Keys of private_key_jwt, read again with `true`; `null` where it does not use that. */
  readonly keys: ((again: boolean) => Promise<JSONWebKeySet>) | null;
  readonly registeredAt: number | null;
}

export interface Clients {
  /**
   * `null`: there is no such client, or it was forgotten.
   * @throws OauthError when its metadata document cannot be read or is not one.
   */
  find(id: string, address: string): Promise<Client | null>;
}

export function createClients(store: AuthStore, documents: (url: string, address: string) => Promise<Client>): Clients {
  return {
    async find(id, address) {
      if (isDocumentId(id)) return documents(id, address);
      const known = await store.client(id);
      if (known === null) return null;
      const { name, redirectUris, secretDigest, createdAt } = known;
      return { id, name, site: null, redirectUris, secretDigest, isPublic: secretDigest === null, keys: null, registeredAt: createdAt };
    },
  };
}
