/**
 * Signature algorithms of tokens that a catalog may name: those in which only the issuer has the key that signs. With
 * HS256 and the like everyone who can verify a token can also make one, and `none` is no signature.
 */
export const SIGNATURE_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const;

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

export function isSignatureAlgorithm(value: unknown): value is SignatureAlgorithm {
  return SIGNATURE_ALGORITHMS.some((known) => known === value);
}
