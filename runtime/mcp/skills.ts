/**
 * The skills extension (io.modelcontextprotocol/skills): the agent skill of a catalog, read as a resource. The text is
 * put together from the parts of the build that concern the tools of the caller, so nobody learns of another tool.
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 */
import type { Engine, Principal } from "../abi/call.js";
import { sha256Hex } from "../abi/fingerprint.js";
import { skillOf, type Skill, type SkillParts } from "../abi/skill.js";
import { answer, FixedResult, type Answer } from "./answer.js";
import { errorText, INVALID_PARAMS, type Request } from "./jsonrpc.js";
import { LIST_TTL_MS, MAX_AUDIENCES } from "./list.js";
import { finishResult } from "./result.js";
import type { ProtocolVersion } from "./versions.js";

export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** What the handshake answers for a resource that is not there; the stateless protocol has no code of its own for it. */
const RESOURCE_NOT_FOUND = -32002;

export interface Skills {
  /** The answer to a method of the extension or of resources; `null` for any other method. */
  answer(request: Request, version: ProtocolVersion, principal: Principal): Answer | null;
}

export interface SkillsParts {
  readonly engine: Engine;
  /** Who answers, as JSON text. */
  readonly infoText: string;
}

/** `null` where the catalog asks for no skill. */
export function createSkills({ engine, infoText }: SkillsParts): Skills | null {
  const { program: { skill: parts }, access } = engine;
  if (parts === undefined) return null;
  const uri = `skill://${parts.name}/SKILL.md`;
  const cacheScope = access.restricted ? "private" : "public";
  const audiences = new Map<string, Results>();
  const resultsFor = (principal: Principal): Results => {
    const audience = access.audience(principal);
    const before = audiences.get(audience);
    if (before !== undefined) return before;
    const results = new Results(skillFor(parts, (tool) => access.refusal(tool, principal) === null), { uri, cacheScope, infoText });
    if (audiences.size < MAX_AUDIENCES) audiences.set(audience, results);
    return results;
  };
  return {
    answer(request, version, principal) {
      const { id, method, params } = request;
      if (!isMethod(method)) return null;
      if (isList(method)) return params["cursor"] === undefined ? resultsFor(principal).result(method, version).answer(id) : refuse(request, version, "this cursor is not from this list");
      const asked = params["uri"];
      if (typeof asked !== "string") return refuse(request, version, "params.uri is a text");
      const results = resultsFor(principal);
      if (asked === uri && results.hasSkill) return results.result(method, version).answer(id);
      return refuse(request, version, `${method === "skills/get" ? "no skill is served" : "there is no resource"} at ${asked.slice(0, 200)}`, method === "resources/read" ? { uri: asked.slice(0, 1000) } : undefined);
    },
  };
}

const LISTS = ["skills/list", "resources/list", "resources/templates/list"] as const;
const METHODS = [...LISTS, "skills/get", "resources/read"] as const;
type Method = (typeof METHODS)[number];

function isMethod(method: string): method is Method {
  return (METHODS as readonly string[]).includes(method);
}

function isList(method: Method): boolean {
  return (LISTS as readonly Method[]).includes(method);
}

/** A caller who may call no tool is shown no skill. */
function skillFor(parts: SkillParts, mayCall: (tool: string) => boolean): Skill | null {
  return parts.tools.some(({ tool }) => mayCall(tool)) ? skillOf(parts, mayCall) : null;
}

function refuse({ id, method }: Request, { era }: ProtocolVersion, message: string, data?: { readonly uri: string }): Answer {
  const code = data !== undefined && method === "resources/read" && era === "handshake" ? RESOURCE_NOT_FOUND : INVALID_PARAMS;
  return answer(errorText(id, code, message, data), era === "stateless" ? 400 : 200);
}

interface ResultShape {
  readonly uri: string;
  readonly cacheScope: "public" | "private";
  readonly infoText: string;
}

/** The answers for one set of tools, per method and protocol version, made on first use. */
class Results {
  private readonly made = new Map<ProtocolVersion, Map<Method, FixedResult>>();

  constructor(
    private readonly skill: Skill | null,
    private readonly shape: ResultShape,
  ) {}

  get hasSkill(): boolean {
    return this.skill !== null;
  }

  result(method: Method, version: ProtocolVersion): FixedResult {
    const ofVersion = this.made.get(version) ?? new Map<Method, FixedResult>();
    this.made.set(version, ofVersion);
    const before = ofVersion.get(method);
    if (before !== undefined) return before;
    const { cacheScope, infoText } = this.shape;
    const caching = version.era === "stateless" ? { ttlMs: LIST_TTL_MS, cacheScope } : {};
    const result = new FixedResult(finishResult(JSON.stringify({ ...this.content(method), ...caching }), version, infoText));
    ofVersion.set(method, result);
    return result;
  }

  private content(method: Method): object {
    const { skill, shape: { uri } } = this;
    switch (method) {
      case "skills/list":
        return { skills: skill === null ? [] : [entryOf(skill, uri)] };
      case "skills/get":
        return { skill: skill === null ? null : entryOf(skill, uri) };
      case "resources/list":
        return { resources: skill === null ? [] : [{ uri, name: skill.name, description: skill.description, mimeType: MARKDOWN, size: Buffer.byteLength(skill.text) }] };
      case "resources/templates/list":
        return { resourceTemplates: [] };
      case "resources/read":
        return { contents: skill === null ? [] : [{ uri, mimeType: MARKDOWN, text: skill.text }] };
      default:
        return method satisfies never;
    }
  }
}

const MARKDOWN = "text/markdown";

/** The entry by which a host checks what it reads: front matter, and the digest of every file. */
function entryOf({ name, description, text }: Skill, uri: string): object {
  return { uri, frontmatter: { name, description }, resources: [{ uri, digest: `sha256:${sha256Hex(text)}`, size: Buffer.byteLength(text) }] };
}
