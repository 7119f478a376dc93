/** Errors of the AWS client as ours, by their names; their texts name accounts and request ids and stay in the cause. */
import { isToolError } from "../../abi/errors.js";
import { unreachable, unusable } from "../source.js";

const KNOWN: readonly (readonly [name: RegExp, problem: string, help: string])[] = [
  [/^ResourceNotFound/, "there is no such secret", "check aws_sm.secret_id and the region"],
  [/^(AccessDenied|UnauthorizedOperation)/, "reading it is not allowed", "allow secretsmanager:GetSecretValue (and kms:Decrypt) for this identity"],
  [/^(UnrecognizedClient|InvalidClientTokenId|InvalidSignature|SignatureDoesNotMatch|ExpiredToken|RequestExpired|IncompleteSignature|MissingAuthenticationToken)/, "the AWS credentials are refused", "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the role of this machine"],
  [/^(CredentialsProvider|TokenProvider)/, "there are no AWS credentials", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role"],
  [/^Decryption/, "it cannot be decrypted", "check the KMS key of the secret"],
  [/^Invalid(Request|Parameter)/, "the request is refused", "check aws_sm.secret_id; the secret may be scheduled for deletion"],
];

export function getSecretError(who: string, region: string, error: unknown): Error {
  if (isToolError(error)) return error;
  const name = error instanceof Error ? error.name : "";
  const known = KNOWN.find(([pattern]) => pattern.test(name));
  if (known !== undefined) return unusable(who, `${known[1]} (region ${region})`, known[2], error);
  return unreachable("aws_sm", who, name === "AbortError" ? "no answer in time" : `cannot be read in region ${region}`, error);
}
