// Code generated from templates/ by gen-templates.ts; DO NOT EDIT.
// @ts-nocheck The functions are made by the template library and have no types.

export const TEMPLATES: { readonly [name: string]: object } = {
  "client": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "  /** "
    + ((stack1 = alias2(alias1(depth0, "summary", {"start":{"line":7,"column":8},"end":{"line":7,"column":15}} ), depth0)) != null ? stack1 : "")
    + " — "
    + ((stack1 = alias2(alias1(depth0, "origin", {"start":{"line":7,"column":22},"end":{"line":7,"column":28}} ), depth0)) != null ? stack1 : "")
    + " */\n  readonly "
    + ((stack1 = alias2(alias1(depth0, "key", {"start":{"line":8,"column":13},"end":{"line":8,"column":16}} ), depth0)) != null ? stack1 : "")
    + ": {\n    readonly args: "
    + ((stack1 = alias2(alias1(depth0, "args", {"start":{"line":9,"column":21},"end":{"line":9,"column":25}} ), depth0)) != null ? stack1 : "")
    + ";\n    readonly row: "
    + ((stack1 = alias2(alias1(depth0, "row", {"start":{"line":10,"column":20},"end":{"line":10,"column":23}} ), depth0)) != null ? stack1 : "")
    + ";\n  };\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import type * as rt from \"toolsrv/runtime/v1\";\n\n/** What each tool takes and returns. Rows have the fields that the catalog names, typed where it says how. */\nexport interface Tools {\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":6,"column":0},"end":{"line":12,"column":9}}})) != null ? stack1 : "")
    + "}\n\n/** The tools over a connection: connect() of toolsrv, or overMcp() of toolsrv/client. */\nexport function client<Options>(connection: rt.ToolCalls<Options>): rt.Client<Tools, Options> {\n  return connection as rt.Client<Tools, Options>;\n}\n";
},"usePartial":true,"useData":true},
  "handler-file": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import * as rt from \"toolsrv/runtime/v1\";\nimport { plans } from \"../plans.js\";\nimport type * as schemas from \"../schemas.js\";\n\n"
    + ((stack1 = container.invokePartial(lookupProperty(partials,"handler"),depth0,{"name":"handler","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "");
},"usePartial":true,"useData":true},
  "handler": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "export const "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":3,"column":15},"end":{"line":3,"column":25}} ), depth0)) != null ? stack1 : "")
    + ": rt.Handler<\n  typeof schemas."
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":4,"column":19},"end":{"line":4,"column":29}} ), depth0)) != null ? stack1 : "")
    + "\n> = async ("
    + ((stack1 = alias2(alias1(depth0, "args", {"start":{"line":5,"column":13},"end":{"line":5,"column":17}} ), depth0)) != null ? stack1 : "")
    + ", call) => {\n";
},"1":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "export const "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":7,"column":15},"end":{"line":7,"column":25}} ), depth0)) != null ? stack1 : "")
    + ": rt.Handler<typeof schemas."
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":7,"column":57},"end":{"line":7,"column":67}} ), depth0)) != null ? stack1 : "")
    + "> = async ("
    + ((stack1 = alias2(alias1(depth0, "args", {"start":{"line":7,"column":82},"end":{"line":7,"column":86}} ), depth0)) != null ? stack1 : "")
    + ", call) => {\n";
},"2":function(container,depth0,helpers,partials,data) {
    return "  const known = await rt.resolve(plan, args, call); // names as the directory has them\n";
},"3":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "  const bound = rt.bind("
    + ((stack1 = alias2(alias1(depth0, "bound", {"start":{"line":14,"column":26},"end":{"line":14,"column":31}} ), depth0)) != null ? stack1 : "")
    + ", call); // "
    + ((stack1 = alias2(alias1(depth0, "bindComment", {"start":{"line":14,"column":47},"end":{"line":14,"column":58}} ), depth0)) != null ? stack1 : "")
    + "\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, alias3=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "/** "
    + ((stack1 = alias2(alias1(depth0, "summary", {"start":{"line":1,"column":6},"end":{"line":1,"column":13}} ), depth0)) != null ? stack1 : "")
    + " — "
    + ((stack1 = alias2(alias1(depth0, "origin", {"start":{"line":1,"column":20},"end":{"line":1,"column":26}} ), depth0)) != null ? stack1 : "")
    + " */\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"long"),{"name":"if","hash":{},"fn":container.program(0, data, 0),"inverse":container.program(1, data, 0),"data":data,"loc":{"start":{"line":2,"column":0},"end":{"line":8,"column":7}}})) != null ? stack1 : "")
    + "  const plan = "
    + ((stack1 = alias2(alias1(depth0, "plan", {"start":{"line":9,"column":17},"end":{"line":9,"column":21}} ), depth0)) != null ? stack1 : "")
    + ";\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"resolves"),{"name":"if","hash":{},"fn":container.program(2, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":10,"column":0},"end":{"line":12,"column":7}}})) != null ? stack1 : "")
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"bound"),{"name":"if","hash":{},"fn":container.program(3, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":13,"column":0},"end":{"line":15,"column":7}}})) != null ? stack1 : "")
    + "  const rows = await rt."
    + ((stack1 = alias2(alias1(depth0, "read", {"start":{"line":16,"column":26},"end":{"line":16,"column":30}} ), depth0)) != null ? stack1 : "")
    + ";\n  return rt.shape(plan, rows, call);\n};\n";
},"useData":true},
  "handlers-index": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = lookupProperty(helpers,"if").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"longImport"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.program(2, data, 0),"data":data,"loc":{"start":{"line":3,"column":0},"end":{"line":9,"column":7}}})) != null ? stack1 : "");
},"1":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "import {\n  "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":5,"column":4},"end":{"line":5,"column":14}} ), depth0)) != null ? stack1 : "")
    + ",\n} from \"./handlers/"
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":6,"column":21},"end":{"line":6,"column":31}} ), depth0)) != null ? stack1 : "")
    + ".js\";\n";
},"2":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "import { "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":8,"column":11},"end":{"line":8,"column":21}} ), depth0)) != null ? stack1 : "")
    + " } from \"./handlers/"
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":8,"column":45},"end":{"line":8,"column":55}} ), depth0)) != null ? stack1 : "")
    + ".js\";\n";
},"3":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "  "
    + ((stack1 = container.lambda(container.strict(depth0, "entry", {"start":{"line":14,"column":4},"end":{"line":14,"column":9}} ), depth0)) != null ? stack1 : "")
    + ",\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":2,"column":0},"end":{"line":10,"column":9}}})) != null ? stack1 : "")
    + "\nexport const handlers = {\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(3, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":13,"column":0},"end":{"line":15,"column":9}}})) != null ? stack1 : "")
    + "};\nexport { validators } from \"./schemas.js\";\n";
},"usePartial":true,"useData":true},
  "handlers": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"handler"),depth0,{"name":"handler","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "\n";
},"1":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "  "
    + ((stack1 = container.lambda(container.strict(depth0, "entry", {"start":{"line":12,"column":4},"end":{"line":12,"column":9}} ), depth0)) != null ? stack1 : "")
    + ",\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import * as rt from \"toolsrv/runtime/v1\";\nimport { plans } from \"./plans.js\";\nimport type * as schemas from \"./schemas.js\";\n\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":6,"column":0},"end":{"line":9,"column":9}}})) != null ? stack1 : "")
    + "export const handlers = {\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":11,"column":0},"end":{"line":13,"column":9}}})) != null ? stack1 : "")
    + "};\nexport { validators } from \"./schemas.js\";\n";
},"usePartial":true,"useData":true},
  "header": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "// Code generated by toolsrv from "
    + ((stack1 = alias2(alias1(lookupProperty(depth0,"catalog"), "file", {"start":{"line":1,"column":36},"end":{"line":1,"column":48}} ), depth0)) != null ? stack1 : "")
    + "; DO NOT EDIT.\n// "
    + ((stack1 = alias2(alias1(lookupProperty(depth0,"catalog"), "line", {"start":{"line":2,"column":5},"end":{"line":2,"column":17}} ), depth0)) != null ? stack1 : "")
    + "\n";
},"useData":true},
  "plans": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "  /** "
    + ((stack1 = alias2(alias1(depth0, "origin", {"start":{"line":15,"column":8},"end":{"line":15,"column":14}} ), depth0)) != null ? stack1 : "")
    + " */\n"
    + ((stack1 = lookupProperty(helpers,"if").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"callers"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":16,"column":0},"end":{"line":18,"column":7}}})) != null ? stack1 : "")
    + "  "
    + ((stack1 = alias2(alias1(depth0, "key", {"start":{"line":19,"column":4},"end":{"line":19,"column":7}} ), depth0)) != null ? stack1 : "")
    + ": {\n"
    + ((stack1 = alias2(alias1(depth0, "plan", {"start":{"line":20,"column":2},"end":{"line":20,"column":6}} ), depth0)) != null ? stack1 : "")
    + "\n  },\n";
},"1":function(container,depth0,helpers,partials,data) {
    var stack1;

  return ((stack1 = container.lambda(container.strict(depth0, "callers", {"start":{"line":17,"column":2},"end":{"line":17,"column":9}} ), depth0)) != null ? stack1 : "")
    + "\n";
},"2":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "\n// What audit records name as the proof of a tool's guards: digests of what manifest.json says of them.\nexport const certificates = "
    + ((stack1 = container.lambda(container.strict(depth0, "certificates", {"start":{"line":27,"column":30},"end":{"line":27,"column":42}} ), depth0)) != null ? stack1 : "")
    + " as const satisfies { readonly [tool: string]: string };\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, alias3=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import type * as rt from \"toolsrv/runtime/v1\";\n\nexport const catalog = "
    + ((stack1 = alias2(alias1(depth0, "catalogPlan", {"start":{"line":4,"column":25},"end":{"line":4,"column":36}} ), depth0)) != null ? stack1 : "")
    + " as const satisfies rt.CatalogPlan;\n\nexport const settings = "
    + ((stack1 = alias2(alias1(depth0, "settings", {"start":{"line":6,"column":26},"end":{"line":6,"column":34}} ), depth0)) != null ? stack1 : "")
    + " as const satisfies rt.ServePlan;\n\n// \"$env\" marks a value that is read when the server starts; no secret is written here.\nexport const connections = "
    + ((stack1 = alias2(alias1(depth0, "connections", {"start":{"line":9,"column":29},"end":{"line":9,"column":40}} ), depth0)) != null ? stack1 : "")
    + " as const satisfies { readonly [name: string]: rt.ConnectionPlan };\n\nexport const embeddings = "
    + ((stack1 = alias2(alias1(depth0, "embeddings", {"start":{"line":11,"column":28},"end":{"line":11,"column":38}} ), depth0)) != null ? stack1 : "")
    + " as const satisfies { readonly [name: string]: rt.EmbeddingPlan };\n\nexport const plans = {\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias3,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":14,"column":0},"end":{"line":22,"column":9}}})) != null ? stack1 : "")
    + "} as const satisfies rt.PlanTable;\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"certificates"),{"name":"if","hash":{},"fn":container.program(2, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":24,"column":0},"end":{"line":28,"column":7}}})) != null ? stack1 : "");
},"usePartial":true,"useData":true},
  "program": {"0":function(container,depth0,helpers,partials,data) {
    return " certificates,";
},"1":function(container,depth0,helpers,partials,data) {
    return " skill,";
},"2":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "  // Only with --trace.\n  trace: () => import("
    + ((stack1 = container.lambda(container.strict(depth0, "traceRoutes", {"start":{"line":9,"column":24},"end":{"line":9,"column":35}} ), depth0)) != null ? stack1 : "")
    + "),\n"
    + ((stack1 = lookupProperty(helpers,"if").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"hasExplained"),{"name":"if","hash":{},"fn":container.program(3, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":10,"column":0},"end":{"line":12,"column":7}}})) != null ? stack1 : "");
},"3":function(container,depth0,helpers,partials,data) {
    return "  explained: () => import(\"./trace.plans.js\"),\n";
},"4":function(container,depth0,helpers,partials,data) {
    return "  // Built with --no-trace.\n  trace: null,\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, alias3=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "  abi: "
    + ((stack1 = alias2(alias1(depth0, "abi", {"start":{"line":1,"column":9},"end":{"line":1,"column":12}} ), depth0)) != null ? stack1 : "")
    + ",\n  catalog, settings, connections, embeddings, plans, tools,"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"hasCertificates"),{"name":"if","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":2,"column":59},"end":{"line":2,"column":103}}})) != null ? stack1 : "")
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"hasSkill"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":2,"column":103},"end":{"line":2,"column":133}}})) != null ? stack1 : "")
    + "\n  // Loaded once the handshake is answered: zod and the handlers take longer than all that comes before.\n  code: () => import(\"./handlers.js\"),\n  // Only the stores that the catalog names.\n  adapters: "
    + ((stack1 = alias2(alias1(depth0, "adapters", {"start":{"line":6,"column":14},"end":{"line":6,"column":22}} ), depth0)) != null ? stack1 : "")
    + ",\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"traceRoutes"),{"name":"if","hash":{},"fn":container.program(2, data, 0),"inverse":container.program(4, data, 0),"data":data,"loc":{"start":{"line":7,"column":0},"end":{"line":16,"column":7}}})) != null ? stack1 : "")
    + "  // Relative paths of connections start at the catalog's folder.\n  base: new URL("
    + ((stack1 = alias2(alias1(depth0, "base", {"start":{"line":18,"column":18},"end":{"line":18,"column":22}} ), depth0)) != null ? stack1 : "")
    + ", import.meta.url),\n";
},"useData":true},
  "project": {"0":function(container,depth0,helpers,partials,data) {
    return "certificates, ";
},"1":function(container,depth0,helpers,partials,data) {
    return "import { skill } from \"./skill.js\";\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import type * as rt from \"toolsrv/runtime/v1\";\nimport { catalog, "
    + ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"hasCertificates"),{"name":"if","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":3,"column":18},"end":{"line":3,"column":62}}})) != null ? stack1 : "")
    + "connections, embeddings, plans, settings } from \"./plans.js\";\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"hasSkill"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":4,"column":0},"end":{"line":6,"column":7}}})) != null ? stack1 : "")
    + "import { tools } from \"./tools.js\";\n\nexport const program = {\n"
    + ((stack1 = container.invokePartial(lookupProperty(partials,"program"),depth0,{"name":"program","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "} satisfies rt.Program;\n";
},"usePartial":true,"useData":true},
  "projects-server": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import { serveProjects } from \"toolsrv/runtime/v1\";\nimport { projects } from \"./projects.js\";\n\nawait serveProjects(projects, process.argv.slice(2));\n";
},"usePartial":true,"useData":true},
  "projects": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "import { program as "
    + ((stack1 = alias2(alias1(depth0, "binding", {"start":{"line":4,"column":22},"end":{"line":4,"column":29}} ), depth0)) != null ? stack1 : "")
    + " } from \"./"
    + ((stack1 = alias2(alias1(depth0, "folder", {"start":{"line":4,"column":44},"end":{"line":4,"column":50}} ), depth0)) != null ? stack1 : "")
    + "/program.js\";\n";
},"1":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "  { name: "
    + ((stack1 = alias2(alias1(depth0, "name", {"start":{"line":10,"column":12},"end":{"line":10,"column":16}} ), depth0)) != null ? stack1 : "")
    + ", program: "
    + ((stack1 = alias2(alias1(depth0, "binding", {"start":{"line":10,"column":31},"end":{"line":10,"column":38}} ), depth0)) != null ? stack1 : "")
    + " },\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import type * as rt from \"toolsrv/runtime/v1\";\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"projects"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":3,"column":0},"end":{"line":5,"column":9}}})) != null ? stack1 : "")
    + "\n/** Each with its own stores and rules. A caller sees one: the first, unless --default-project names another. */\nexport const projects = [\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"projects"),{"name":"each","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":9,"column":0},"end":{"line":11,"column":9}}})) != null ? stack1 : "")
    + "] as const satisfies readonly rt.Project[];\n";
},"usePartial":true,"useData":true},
  "queries": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, alias3=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "\n## "
    + ((stack1 = alias2(alias1(depth0, "name", {"start":{"line":7,"column":5},"end":{"line":7,"column":9}} ), depth0)) != null ? stack1 : "")
    + "\n\n"
    + ((stack1 = alias2(alias1(depth0, "kind", {"start":{"line":9,"column":2},"end":{"line":9,"column":6}} ), depth0)) != null ? stack1 : "")
    + ", "
    + ((stack1 = alias2(alias1(depth0, "origin", {"start":{"line":9,"column":12},"end":{"line":9,"column":18}} ), depth0)) != null ? stack1 : "")
    + "\n\n"
    + ((stack1 = alias2(alias1(depth0, "description", {"start":{"line":11,"column":2},"end":{"line":11,"column":13}} ), depth0)) != null ? stack1 : "")
    + "\n\n**The model may pass**\n\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias3,lookupProperty(depth0,"arguments"),{"name":"each","hash":{},"fn":container.program(1, data, 0),"inverse":container.program(2, data, 0),"data":data,"loc":{"start":{"line":15,"column":0},"end":{"line":19,"column":9}}})) != null ? stack1 : "")
    + "\n**Always applied**\n\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias3,lookupProperty(depth0,"guards"),{"name":"each","hash":{},"fn":container.program(1, data, 0),"inverse":container.program(2, data, 0),"data":data,"loc":{"start":{"line":23,"column":0},"end":{"line":27,"column":9}}})) != null ? stack1 : "")
    + "\n**Who may call it**: "
    + ((stack1 = alias2(alias1(depth0, "callers", {"start":{"line":29,"column":23},"end":{"line":29,"column":30}} ), depth0)) != null ? stack1 : "")
    + "\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"output"),{"name":"if","hash":{},"fn":container.program(3, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":30,"column":0},"end":{"line":37,"column":7}}})) != null ? stack1 : "")
    + ((stack1 = lookupProperty(helpers,"each").call(alias3,lookupProperty(depth0,"calls"),{"name":"each","hash":{},"fn":container.program(4, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":38,"column":0},"end":{"line":53,"column":9}}})) != null ? stack1 : "");
},"1":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "- "
    + ((stack1 = container.lambda(depth0, depth0)) != null ? stack1 : "")
    + "\n";
},"2":function(container,depth0,helpers,partials,data) {
    return "- nothing\n";
},"3":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "\n**What leaves**\n\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"output"),{"name":"each","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":34,"column":0},"end":{"line":36,"column":9}}})) != null ? stack1 : "");
},"4":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"when"),{"name":"if","hash":{},"fn":container.program(5, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":39,"column":0},"end":{"line":42,"column":7}}})) != null ? stack1 : "")
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"queries"),{"name":"each","hash":{},"fn":container.program(6, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":43,"column":0},"end":{"line":48,"column":9}}})) != null ? stack1 : "")
    + ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"refused"),{"name":"if","hash":{},"fn":container.program(7, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":49,"column":0},"end":{"line":52,"column":7}}})) != null ? stack1 : "");
},"5":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "\n**"
    + ((stack1 = container.lambda(container.strict(depth0, "when", {"start":{"line":41,"column":4},"end":{"line":41,"column":8}} ), depth0)) != null ? stack1 : "")
    + "**\n";
},"6":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "\n"
    + ((stack1 = alias2(alias1(depth0, "title", {"start":{"line":45,"column":2},"end":{"line":45,"column":7}} ), depth0)) != null ? stack1 : "")
    + "\n\n"
    + ((stack1 = alias2(alias1(depth0, "text", {"start":{"line":47,"column":2},"end":{"line":47,"column":6}} ), depth0)) != null ? stack1 : "")
    + "\n";
},"7":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "\nNot shown: "
    + ((stack1 = container.lambda(container.strict(depth0, "refused", {"start":{"line":51,"column":13},"end":{"line":51,"column":20}} ), depth0)) != null ? stack1 : "")
    + "\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "\u003C!-- Code generated by toolsrv from "
    + ((stack1 = alias2(alias1(lookupProperty(depth0,"catalog"), "file", {"start":{"line":1,"column":38},"end":{"line":1,"column":50}} ), depth0)) != null ? stack1 : "")
    + "; DO NOT EDIT. -->\n# What the tools of "
    + ((stack1 = alias2(alias1(lookupProperty(depth0,"catalog"), "name", {"start":{"line":2,"column":22},"end":{"line":2,"column":34}} ), depth0)) != null ? stack1 : "")
    + " ask their stores\n\n`<name>` is the value of an argument, `${NAME}` a value of the environment. Limits are at their maximum.\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":5,"column":0},"end":{"line":54,"column":9}}})) != null ? stack1 : "");
},"useData":true},
  "schemas": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "/** "
    + ((stack1 = alias2(alias1(depth0, "origin", {"start":{"line":5,"column":6},"end":{"line":5,"column":12}} ), depth0)) != null ? stack1 : "")
    + " */\nexport const "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":6,"column":15},"end":{"line":6,"column":25}} ), depth0)) != null ? stack1 : "")
    + " = z.object("
    + ((stack1 = alias2(alias1(depth0, "arguments", {"start":{"line":6,"column":41},"end":{"line":6,"column":50}} ), depth0)) != null ? stack1 : "")
    + ");\n\n";
},"1":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "  "
    + ((stack1 = container.lambda(container.strict(depth0, "entry", {"start":{"line":11,"column":4},"end":{"line":11,"column":9}} ), depth0)) != null ? stack1 : "")
    + ",\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import { z } from \"zod\";\n\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":4,"column":0},"end":{"line":8,"column":9}}})) != null ? stack1 : "")
    + "export const validators = {\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":10,"column":0},"end":{"line":12,"column":9}}})) != null ? stack1 : "")
    + "};\n";
},"usePartial":true,"useData":true},
  "server": {"0":function(container,depth0,helpers,partials,data) {
    return "certificates, ";
},"1":function(container,depth0,helpers,partials,data) {
    return "import { skill } from \"./skill.js\";\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import { serve } from \"toolsrv/runtime/v1\";\nimport { catalog, "
    + ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"hasCertificates"),{"name":"if","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":3,"column":18},"end":{"line":3,"column":62}}})) != null ? stack1 : "")
    + "connections, embeddings, plans, settings } from \"./plans.js\";\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"hasSkill"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":4,"column":0},"end":{"line":6,"column":7}}})) != null ? stack1 : "")
    + "import { tools } from \"./tools.js\";\n\nconst program = {\n"
    + ((stack1 = container.invokePartial(lookupProperty(partials,"program"),depth0,{"name":"program","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "};\nawait serve(program, process.argv.slice(2));\n";
},"usePartial":true,"useData":true},
  "skill-parts": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import type * as rt from \"toolsrv/runtime/v1\";\n\n/** SKILL.md as the server offers it: each caller gets the parts of the tools that it may call. */\nexport const skill = "
    + ((stack1 = container.lambda(container.strict(depth0, "skill", {"start":{"line":5,"column":23},"end":{"line":5,"column":28}} ), depth0)) != null ? stack1 : "")
    + " as const satisfies rt.SkillParts;\n";
},"usePartial":true,"useData":true},
  "skill-result": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    return "## What a call returns\n\n```ts\ninterface Result<Row> {\n  rows: Row[];\n  count: number; // rows returned; of a count tool the number that was asked for\n  truncated: boolean; // rows were left out because the result was too large\n  may_be_incomplete: boolean; // more candidates exist than were looked at\n  message: string | null; // why there is no row, where that can be said\n}\n```\n\nA field that a record lacks is null. A failed call throws a `ToolError` with `code`, `message` and `retryable`:\n`invalid_arguments` names the argument and what was expected, `auth_error` is not to be tried again.\n\n## Tools\n";
},"useData":true},
  "skill-served": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "---\n# Code generated by toolsrv from "
    + ((stack1 = alias2(alias1(lookupProperty(depth0,"catalog"), "file", {"start":{"line":2,"column":35},"end":{"line":2,"column":47}} ), depth0)) != null ? stack1 : "")
    + "; DO NOT EDIT.\nname: "
    + ((stack1 = alias2(alias1(depth0, "name", {"start":{"line":3,"column":8},"end":{"line":3,"column":12}} ), depth0)) != null ? stack1 : "")
    + "\ndescription: "
    + ((stack1 = alias2(alias1(depth0, "description", {"start":{"line":4,"column":15},"end":{"line":4,"column":26}} ), depth0)) != null ? stack1 : "")
    + "\n---\n\n# "
    + ((stack1 = alias2(alias1(depth0, "title", {"start":{"line":7,"column":4},"end":{"line":7,"column":9}} ), depth0)) != null ? stack1 : "")
    + "\n\n"
    + ((stack1 = alias2(alias1(depth0, "amount", {"start":{"line":9,"column":2},"end":{"line":9,"column":8}} ), depth0)) != null ? stack1 : "")
    + " of this server. Write TypeScript that calls what you need, works on the rows, and prints the answer: rows that\nonly pass through need not be read.\n\n```ts\nimport { overMcp } from \"toolsrv/client\";\n\n// mcp is an MCP client that is connected to this server.\nconst tools = overMcp((params) => mcp.callTool(params));\n"
    + ((stack1 = alias2(alias1(depth0, "start", {"start":{"line":17,"column":2},"end":{"line":17,"column":7}} ), depth0)) != null ? stack1 : "")
    + "\n```\n\nWithout the package `toolsrv`, call the tools through any MCP client: `structuredContent` of its result is what `tools.call`\nreturns here. Filters that belong to the data set are applied to every call, and the server knows who calls.\n\n"
    + ((stack1 = container.invokePartial(lookupProperty(partials,"skill-result"),depth0,{"name":"skill-result","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "");
},"usePartial":true,"useData":true},
  "skill-tool": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "\n"
    + ((stack1 = alias2(alias1(depth0, "request", {"start":{"line":11,"column":2},"end":{"line":11,"column":9}} ), depth0)) != null ? stack1 : "")
    + "\n\n```ts\n"
    + ((stack1 = alias2(alias1(depth0, "call", {"start":{"line":14,"column":2},"end":{"line":14,"column":6}} ), depth0)) != null ? stack1 : "")
    + "\n```\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "\n### "
    + ((stack1 = alias2(alias1(depth0, "title", {"start":{"line":2,"column":6},"end":{"line":2,"column":11}} ), depth0)) != null ? stack1 : "")
    + "\n\n"
    + ((stack1 = alias2(alias1(depth0, "description", {"start":{"line":4,"column":2},"end":{"line":4,"column":13}} ), depth0)) != null ? stack1 : "")
    + "\n\n```ts\n"
    + ((stack1 = alias2(alias1(depth0, "signature", {"start":{"line":7,"column":2},"end":{"line":7,"column":11}} ), depth0)) != null ? stack1 : "")
    + "\n```\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"examples"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":9,"column":0},"end":{"line":16,"column":9}}})) != null ? stack1 : "");
},"useData":true},
  "skill": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "---\n# Code generated by toolsrv from "
    + ((stack1 = alias2(alias1(lookupProperty(depth0,"catalog"), "file", {"start":{"line":2,"column":35},"end":{"line":2,"column":47}} ), depth0)) != null ? stack1 : "")
    + "; DO NOT EDIT.\nname: "
    + ((stack1 = alias2(alias1(depth0, "name", {"start":{"line":3,"column":8},"end":{"line":3,"column":12}} ), depth0)) != null ? stack1 : "")
    + "\ndescription: "
    + ((stack1 = alias2(alias1(depth0, "description", {"start":{"line":4,"column":15},"end":{"line":4,"column":26}} ), depth0)) != null ? stack1 : "")
    + "\n---\n\n# "
    + ((stack1 = alias2(alias1(depth0, "title", {"start":{"line":7,"column":4},"end":{"line":7,"column":9}} ), depth0)) != null ? stack1 : "")
    + "\n\n"
    + ((stack1 = alias2(alias1(depth0, "amount", {"start":{"line":9,"column":2},"end":{"line":9,"column":8}} ), depth0)) != null ? stack1 : "")
    + ". Write TypeScript that calls what you need, works on the rows, and prints the answer: rows that\nonly pass through need not be read.\n\n```ts\nimport { connect } from \"toolsrv\";\nimport { client } from "
    + ((stack1 = alias2(alias1(depth0, "clientPath", {"start":{"line":14,"column":25},"end":{"line":14,"column":35}} ), depth0)) != null ? stack1 : "")
    + ";\n\nconst connection = await connect("
    + ((stack1 = alias2(alias1(depth0, "catalogPath", {"start":{"line":16,"column":35},"end":{"line":16,"column":46}} ), depth0)) != null ? stack1 : "")
    + ");\nconst tools = client(connection);\n"
    + ((stack1 = alias2(alias1(depth0, "start", {"start":{"line":18,"column":2},"end":{"line":18,"column":7}} ), depth0)) != null ? stack1 : "")
    + "\nawait connection.close();\n```\n\nOver a server instead of the catalog: `client(overMcp((params) => mcp.callTool(params)))` with `overMcp` of `toolsrv/client`\nand any MCP client. Filters that belong to the data set are applied to every call. Who calls is the program's to say, in\n`call(name, args, { principal, tenant, … })`; never take it from what a user wrote.\n\n"
    + ((stack1 = container.invokePartial(lookupProperty(partials,"skill-result"),depth0,{"name":"skill-result","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "");
},"usePartial":true,"useData":true},
  "tools": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "  // "
    + ((stack1 = alias2(alias1(depth0, "origin", {"start":{"line":7,"column":7},"end":{"line":7,"column":13}} ), depth0)) != null ? stack1 : "")
    + "\n  {\n"
    + ((stack1 = alias2(alias1(depth0, "definition", {"start":{"line":9,"column":2},"end":{"line":9,"column":12}} ), depth0)) != null ? stack1 : "")
    + "\n  },\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import type * as rt from \"toolsrv/runtime/v1\";\n\n/** What the model sees of each tool, in the order of tools/list. */\nexport const tools = [\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":6,"column":0},"end":{"line":11,"column":9}}})) != null ? stack1 : "")
    + "] as const satisfies readonly rt.ToolDefinition[];\n";
},"usePartial":true,"useData":true},
  "trace-plans": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import type * as rt from \"toolsrv/runtime/v1\";\n\n// What the trace service shows beside each call: only with --trace. Values that the catalog fixes are not in it.\nexport const explained = "
    + ((stack1 = container.lambda(container.strict(depth0, "explained", {"start":{"line":5,"column":27},"end":{"line":5,"column":36}} ), depth0)) != null ? stack1 : "")
    + " as const satisfies rt.ExplainedTools;\n";
},"usePartial":true,"useData":true},
  "trace-routes": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "/** "
    + ((stack1 = alias2(alias1(depth0, "comment", {"start":{"line":17,"column":6},"end":{"line":17,"column":13}} ), depth0)) != null ? stack1 : "")
    + " */\nexport const "
    + ((stack1 = alias2(alias1(depth0, "id", {"start":{"line":18,"column":15},"end":{"line":18,"column":17}} ), depth0)) != null ? stack1 : "")
    + " = {\n  method: "
    + ((stack1 = alias2(alias1(depth0, "method", {"start":{"line":19,"column":12},"end":{"line":19,"column":18}} ), depth0)) != null ? stack1 : "")
    + ",\n  path: "
    + ((stack1 = alias2(alias1(depth0, "path", {"start":{"line":20,"column":10},"end":{"line":20,"column":14}} ), depth0)) != null ? stack1 : "")
    + ",\n  public: "
    + ((stack1 = alias2(alias1(depth0, "public", {"start":{"line":21,"column":12},"end":{"line":21,"column":18}} ), depth0)) != null ? stack1 : "")
    + ",\n  pathParams: "
    + ((stack1 = alias2(alias1(depth0, "pathParams", {"start":{"line":22,"column":16},"end":{"line":22,"column":26}} ), depth0)) != null ? stack1 : "")
    + ",\n  params: "
    + ((stack1 = alias2(alias1(depth0, "params", {"start":{"line":23,"column":12},"end":{"line":23,"column":18}} ), depth0)) != null ? stack1 : "")
    + ",\n} as const satisfies rt.TraceRoute<rt.TraceOperations[\""
    + ((stack1 = alias2(alias1(depth0, "id", {"start":{"line":24,"column":57},"end":{"line":24,"column":59}} ), depth0)) != null ? stack1 : "")
    + "\"]>;\n\n";
},"1":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "  "
    + ((stack1 = container.lambda(container.strict(depth0, "id", {"start":{"line":30,"column":4},"end":{"line":30,"column":6}} ), depth0)) != null ? stack1 : "")
    + ",\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "// Code generated by toolsrv from specs/trace.openapi.yaml; DO NOT EDIT.\nimport { z } from \"zod\";\nimport type * as rt from \"toolsrv/runtime/v1\";\n\n/** Parameters arrive as text. */\nconst integer = z.string().regex(/^\\s*[+-]?\\d{1,15}\\s*$/).transform(Number);\n\n/** Lengths are in characters: code points, not the code units that zod counts. */\nconst text = (minimum: number, maximum: number) =>\n  z.string().check(({ value, issues }) => {\n    const count = [...value].length;\n    if (count < minimum) issues.push({ code: \"too_small\", origin: \"string\", minimum, inclusive: true, input: value });\n    if (count > maximum) issues.push({ code: \"too_big\", origin: \"string\", maximum, inclusive: true, input: value });\n  });\n\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"operations"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":16,"column":0},"end":{"line":26,"column":9}}})) != null ? stack1 : "")
    + "/** Every operation of the document. */\nexport const routes = {\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"operations"),{"name":"each","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":29,"column":0},"end":{"line":31,"column":9}}})) != null ? stack1 : "")
    + "} satisfies { readonly [Id in keyof rt.TraceOperations]: rt.TraceRoute<rt.TraceOperations[Id]> };\n";
},"useData":true},
  "trace-server": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    return "// Code generated by toolsrv from specs/trace.openapi.yaml; DO NOT EDIT.\nimport { serveTrace } from \"toolsrv/runtime/v1\";\nimport { routes } from \"./trace.routes.js\";\n\nawait serveTrace({ routes }, process.argv.slice(2));\n";
},"useData":true},
  "twin-projects-server": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "// Twins: the tools, schemas, guards and errors of the catalogs over made-up rows. They open no store.\nimport { serveTwins } from \"toolsrv/runtime/v1\";\nimport { projects } from \"./projects.js\";\n\nawait serveTwins(projects, process.argv.slice(2));\n";
},"usePartial":true,"useData":true},
  "twin-projects": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "import { program as "
    + ((stack1 = alias2(alias1(depth0, "binding", {"start":{"line":4,"column":22},"end":{"line":4,"column":29}} ), depth0)) != null ? stack1 : "")
    + " } from \"./"
    + ((stack1 = alias2(alias1(depth0, "folder", {"start":{"line":4,"column":44},"end":{"line":4,"column":50}} ), depth0)) != null ? stack1 : "")
    + "/program.js\";\n";
},"1":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "  { name: "
    + ((stack1 = alias2(alias1(depth0, "name", {"start":{"line":10,"column":12},"end":{"line":10,"column":16}} ), depth0)) != null ? stack1 : "")
    + ", program: "
    + ((stack1 = alias2(alias1(depth0, "binding", {"start":{"line":10,"column":31},"end":{"line":10,"column":38}} ), depth0)) != null ? stack1 : "")
    + ", rows: new URL(\"./"
    + ((stack1 = alias2(alias1(depth0, "folder", {"start":{"line":10,"column":61},"end":{"line":10,"column":67}} ), depth0)) != null ? stack1 : "")
    + "/rows.json\", import.meta.url) },\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "import type * as rt from \"toolsrv/runtime/v1\";\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"projects"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":3,"column":0},"end":{"line":5,"column":9}}})) != null ? stack1 : "")
    + "\n/** Each with its own rows and rules. A caller sees one: the first, unless --default-project names another. */\nexport const projects = [\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"projects"),{"name":"each","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":9,"column":0},"end":{"line":11,"column":9}}})) != null ? stack1 : "")
    + "] as const satisfies readonly rt.PrintedTwin[];\n";
},"usePartial":true,"useData":true},
  "twin-server": {"0":function(container,depth0,helpers,partials,data) {
    return "certificates, ";
},"1":function(container,depth0,helpers,partials,data) {
    return "import { skill } from \"./skill.js\";\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "// A twin: the tools, schemas, guards and errors of the catalog over the made-up rows of rows.json. It opens no store.\nimport { serveTwin } from \"toolsrv/runtime/v1\";\nimport { catalog, "
    + ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"hasCertificates"),{"name":"if","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":4,"column":18},"end":{"line":4,"column":62}}})) != null ? stack1 : "")
    + "connections, embeddings, plans, settings } from \"./plans.js\";\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"hasSkill"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":5,"column":0},"end":{"line":7,"column":7}}})) != null ? stack1 : "")
    + "import { tools } from \"./tools.js\";\n\nconst program = {\n"
    + ((stack1 = container.invokePartial(lookupProperty(partials,"program"),depth0,{"name":"program","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "};\nawait serveTwin(program, new URL(\"./rows.json\", import.meta.url), process.argv.slice(2));\n";
},"usePartial":true,"useData":true},
};

export const PYTHON_TEMPLATES: { readonly [name: string]: object } = {
  "definitions.py": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, alias3=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "\n# "
    + ((stack1 = alias2(alias1(depth0, "origin", {"start":{"line":15,"column":4},"end":{"line":15,"column":10}} ), depth0)) != null ? stack1 : "")
    + "\n"
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":16,"column":2},"end":{"line":16,"column":12}} ), depth0)) != null ? stack1 : "")
    + ": Tool["
    + ((stack1 = alias2(alias1(depth0, "row", {"start":{"line":16,"column":23},"end":{"line":16,"column":26}} ), depth0)) != null ? stack1 : "")
    + "] = Tool(\n    name="
    + ((stack1 = alias2(alias1(depth0, "name", {"start":{"line":17,"column":11},"end":{"line":17,"column":15}} ), depth0)) != null ? stack1 : "")
    + ",\n    title="
    + ((stack1 = alias2(alias1(depth0, "title", {"start":{"line":18,"column":12},"end":{"line":18,"column":17}} ), depth0)) != null ? stack1 : "")
    + ",\n    description="
    + ((stack1 = alias2(alias1(depth0, "description", {"start":{"line":19,"column":18},"end":{"line":19,"column":29}} ), depth0)) != null ? stack1 : "")
    + ",\n    input_schema="
    + ((stack1 = alias2(alias1(depth0, "inputSchema", {"start":{"line":20,"column":19},"end":{"line":20,"column":30}} ), depth0)) != null ? stack1 : "")
    + ",\n    row="
    + ((stack1 = alias2(alias1(depth0, "row", {"start":{"line":21,"column":10},"end":{"line":21,"column":13}} ), depth0)) != null ? stack1 : "")
    + ",\n    deadline_s="
    + ((stack1 = alias2(alias1(depth0, "deadline", {"start":{"line":22,"column":17},"end":{"line":22,"column":25}} ), depth0)) != null ? stack1 : "")
    + ",\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"tenancy"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":23,"column":0},"end":{"line":25,"column":7}}})) != null ? stack1 : "")
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"project"),{"name":"if","hash":{},"fn":container.program(2, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":26,"column":0},"end":{"line":28,"column":7}}})) != null ? stack1 : "")
    + ")\n";
},"1":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "    tenancy="
    + ((stack1 = container.lambda(container.strict(depth0, "tenancy", {"start":{"line":24,"column":14},"end":{"line":24,"column":21}} ), depth0)) != null ? stack1 : "")
    + ",\n";
},"2":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "    project="
    + ((stack1 = container.lambda(container.strict(depth0, "project", {"start":{"line":27,"column":14},"end":{"line":27,"column":21}} ), depth0)) != null ? stack1 : "")
    + ",\n";
},"3":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "    "
    + ((stack1 = alias2(alias1(depth0, "name", {"start":{"line":35,"column":6},"end":{"line":35,"column":10}} ), depth0)) != null ? stack1 : "")
    + ": "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":35,"column":16},"end":{"line":35,"column":26}} ), depth0)) != null ? stack1 : "")
    + ",\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "\"\"\"The tools as a model sees them, and what a client must know to call them. Guards and connections stay in the server.\"\"\"\n\nfrom __future__ import annotations\n\nfrom typing import Any\n\nfrom . import models\nfrom .protocol import Row, Tenancy, Tool\n\n#: The built server, from the folder of this package.\nSERVER = "
    + ((stack1 = container.lambda(container.strict(depth0, "server", {"start":{"line":12,"column":11},"end":{"line":12,"column":17}} ), depth0)) != null ? stack1 : "")
    + "\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":13,"column":0},"end":{"line":30,"column":9}}})) != null ? stack1 : "")
    + "\n#: By name, in the order of the catalog.\nTOOLS: dict[str, Tool[Any]] = {\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(3, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":34,"column":0},"end":{"line":36,"column":9}}})) != null ? stack1 : "")
    + "}\n";
},"usePartial":true,"useData":true},
  "header": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "# Code generated by toolsrv from "
    + ((stack1 = alias2(alias1(lookupProperty(depth0,"catalog"), "file", {"start":{"line":1,"column":35},"end":{"line":1,"column":47}} ), depth0)) != null ? stack1 : "")
    + "; DO NOT EDIT.\n# "
    + ((stack1 = alias2(alias1(lookupProperty(depth0,"catalog"), "line", {"start":{"line":2,"column":4},"end":{"line":2,"column":16}} ), depth0)) != null ? stack1 : "")
    + "\n";
},"useData":true},
  "init.py": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + ((stack1 = container.lambda(container.strict(depth0, "description", {"start":{"line":2,"column":2},"end":{"line":2,"column":13}} ), depth0)) != null ? stack1 : "")
    + "\n\nfrom .catalog import Catalog, Toolset, aconnect, connect, load_tools\nfrom .context import CallContext\nfrom .errors import (\n    CallTimeout,\n    ConnectFailed,\n    ContextRefused,\n    ProtocolError,\n    ServerDied,\n    StartFailed,\n    ToolError,\n    UnknownTool,\n)\nfrom .protocol import Result, Row\nfrom .tools import AsyncTools, Tools\n\n__all__ = [\n    \"AsyncTools\",\n    \"CallContext\",\n    \"CallTimeout\",\n    \"Catalog\",\n    \"ConnectFailed\",\n    \"ContextRefused\",\n    \"ProtocolError\",\n    \"Result\",\n    \"Row\",\n    \"ServerDied\",\n    \"StartFailed\",\n    \"ToolError\",\n    \"Tools\",\n    \"Toolset\",\n    \"UnknownTool\",\n    \"aconnect\",\n    \"connect\",\n    \"load_tools\",\n]\n";
},"usePartial":true,"useData":true},
  "models.py": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"enums"),{"name":"each","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":15,"column":0},"end":{"line":17,"column":9}}})) != null ? stack1 : "")
    + "    \""
    + ((stack1 = container.lambda(container.strict(depth0, "className", {"start":{"line":18,"column":7},"end":{"line":18,"column":16}} ), depth0)) != null ? stack1 : "")
    + "Arguments\",\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"fields"),{"name":"if","hash":{},"fn":container.program(2, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":19,"column":0},"end":{"line":21,"column":7}}})) != null ? stack1 : "");
},"1":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "    \""
    + ((stack1 = container.lambda(container.strict(depth0, "name", {"start":{"line":16,"column":7},"end":{"line":16,"column":11}} ), depth0)) != null ? stack1 : "")
    + "\",\n";
},"2":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "    \""
    + ((stack1 = container.lambda(container.strict(depth0, "className", {"start":{"line":20,"column":7},"end":{"line":20,"column":16}} ), depth0)) != null ? stack1 : "")
    + "Row\",\n";
},"3":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), alias2=container.strict, alias3=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"enums"),{"name":"each","hash":{},"fn":container.program(4, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":29,"column":0},"end":{"line":37,"column":9}}})) != null ? stack1 : "")
    + "\n\nclass "
    + ((stack1 = alias3(alias2(depth0, "className", {"start":{"line":40,"column":8},"end":{"line":40,"column":17}} ), depth0)) != null ? stack1 : "")
    + "Arguments(_Arguments):\n    "
    + ((stack1 = alias3(alias2(depth0, "summary", {"start":{"line":41,"column":6},"end":{"line":41,"column":13}} ), depth0)) != null ? stack1 : "")
    + "\n\n    # "
    + ((stack1 = alias3(alias2(depth0, "origin", {"start":{"line":43,"column":8},"end":{"line":43,"column":14}} ), depth0)) != null ? stack1 : "")
    + "\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"arguments"),{"name":"each","hash":{},"fn":container.program(6, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":44,"column":0},"end":{"line":46,"column":9}}})) != null ? stack1 : "")
    + ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"fields"),{"name":"if","hash":{},"fn":container.program(7, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":47,"column":0},"end":{"line":56,"column":7}}})) != null ? stack1 : "");
},"4":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "\n\n"
    + ((stack1 = container.lambda(container.strict(depth0, "name", {"start":{"line":32,"column":2},"end":{"line":32,"column":6}} ), depth0)) != null ? stack1 : "")
    + " = Literal[\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"members"),{"name":"each","hash":{},"fn":container.program(5, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":33,"column":0},"end":{"line":35,"column":9}}})) != null ? stack1 : "")
    + "]\n";
},"5":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "    "
    + ((stack1 = container.lambda(depth0, depth0)) != null ? stack1 : "")
    + ",\n";
},"6":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "    "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":45,"column":6},"end":{"line":45,"column":16}} ), depth0)) != null ? stack1 : "")
    + ": "
    + ((stack1 = alias2(alias1(depth0, "type", {"start":{"line":45,"column":22},"end":{"line":45,"column":26}} ), depth0)) != null ? stack1 : "")
    + ((stack1 = alias2(alias1(depth0, "value", {"start":{"line":45,"column":30},"end":{"line":45,"column":35}} ), depth0)) != null ? stack1 : "")
    + "\n";
},"7":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "\n\nclass "
    + ((stack1 = alias2(alias1(depth0, "className", {"start":{"line":50,"column":8},"end":{"line":50,"column":17}} ), depth0)) != null ? stack1 : "")
    + "Row(Row):\n    "
    + ((stack1 = alias2(alias1(depth0, "rowSummary", {"start":{"line":51,"column":6},"end":{"line":51,"column":16}} ), depth0)) != null ? stack1 : "")
    + "\n\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"fields"),{"name":"each","hash":{},"fn":container.program(6, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":53,"column":0},"end":{"line":55,"column":9}}})) != null ? stack1 : "");
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "\"\"\"Arguments and rows of the tools. Whether arguments are right is decided by the server, whoever sends them.\"\"\"\n\nfrom __future__ import annotations\n\nfrom typing import Annotated, Any, Literal\n\nfrom pydantic import BaseModel, ConfigDict, Field\n\nfrom .protocol import Row\n\n__all__ = [\n    \"Row\",\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":14,"column":0},"end":{"line":22,"column":9}}})) != null ? stack1 : "")
    + "]\n\n\nclass _Arguments(BaseModel):\n    model_config = ConfigDict(extra=\"forbid\", populate_by_name=True, protected_namespaces=())\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(3, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":28,"column":0},"end":{"line":57,"column":9}}})) != null ? stack1 : "");
},"usePartial":true,"useData":true},
  "py.typed": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "");
},"usePartial":true,"useData":true},
  "pyproject.toml": {"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "[build-system]\nrequires = [\"setuptools>=64\"]\nbuild-backend = \"setuptools.build_meta\"\n\n[project]\nname = \""
    + ((stack1 = alias2(alias1(depth0, "distribution", {"start":{"line":7,"column":10},"end":{"line":7,"column":22}} ), depth0)) != null ? stack1 : "")
    + "\"\nversion = \""
    + ((stack1 = alias2(alias1(depth0, "version", {"start":{"line":8,"column":13},"end":{"line":8,"column":20}} ), depth0)) != null ? stack1 : "")
    + "\"\ndescription = "
    + ((stack1 = alias2(alias1(depth0, "description", {"start":{"line":9,"column":16},"end":{"line":9,"column":27}} ), depth0)) != null ? stack1 : "")
    + "\nrequires-python = \">=3.10\"\ndependencies = [\"httpx>=0.25\", \"pydantic>=2.7,<3\"]\n\n# No upper bound on a major of mcp: agent frameworks ask for one or the other.\n[project.optional-dependencies]\nlangchain = [\"langchain-core>=0.3\"]\nopenai-agents = [\"openai-agents>=0.1\"]\nmcp = [\"mcp>=1.9\"]\n\n[tool.setuptools]\npackages = [\""
    + ((stack1 = alias2(alias1(depth0, "name", {"start":{"line":20,"column":15},"end":{"line":20,"column":19}} ), depth0)) != null ? stack1 : "")
    + "\"]\n\n[tool.setuptools.package-data]\n"
    + ((stack1 = alias2(alias1(depth0, "name", {"start":{"line":23,"column":2},"end":{"line":23,"column":6}} ), depth0)) != null ? stack1 : "")
    + " = [\"py.typed\"]\n";
},"usePartial":true,"useData":true},
  "tools.py": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, alias3=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "\n    def "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":29,"column":10},"end":{"line":29,"column":20}} ), depth0)) != null ? stack1 : "")
    + "(\n        self,\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"hasParams"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":31,"column":0},"end":{"line":36,"column":7}}})) != null ? stack1 : "")
    + "        context: CallContext | None = None,\n    ) -> Result["
    + ((stack1 = alias2(alias1(depth0, "row", {"start":{"line":38,"column":18},"end":{"line":38,"column":21}} ), depth0)) != null ? stack1 : "")
    + "]:\n        "
    + ((stack1 = alias2(alias1(depth0, "summary", {"start":{"line":39,"column":10},"end":{"line":39,"column":17}} ), depth0)) != null ? stack1 : "")
    + "\n        # "
    + ((stack1 = alias2(alias1(depth0, "origin", {"start":{"line":40,"column":12},"end":{"line":40,"column":18}} ), depth0)) != null ? stack1 : "")
    + "\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"hasParams"),{"name":"if","hash":{},"fn":container.program(3, data, 0),"inverse":container.program(5, data, 0),"data":data,"loc":{"start":{"line":41,"column":0},"end":{"line":50,"column":7}}})) != null ? stack1 : "");
},"1":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "        *,\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"params"),{"name":"each","hash":{},"fn":container.program(2, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":33,"column":0},"end":{"line":35,"column":9}}})) != null ? stack1 : "");
},"2":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "        "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":34,"column":10},"end":{"line":34,"column":20}} ), depth0)) != null ? stack1 : "")
    + ": "
    + ((stack1 = alias2(alias1(depth0, "type", {"start":{"line":34,"column":26},"end":{"line":34,"column":30}} ), depth0)) != null ? stack1 : "")
    + ((stack1 = alias2(alias1(depth0, "value", {"start":{"line":34,"column":34},"end":{"line":34,"column":39}} ), depth0)) != null ? stack1 : "")
    + ",\n";
},"3":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "        given = arguments_of({\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"params"),{"name":"each","hash":{},"fn":container.program(4, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":43,"column":0},"end":{"line":45,"column":9}}})) != null ? stack1 : "")
    + "        })\n        return self._call(definitions."
    + ((stack1 = container.lambda(container.strict(depth0, "identifier", {"start":{"line":47,"column":40},"end":{"line":47,"column":50}} ), depth0)) != null ? stack1 : "")
    + ", given, context)\n";
},"4":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda;

  return "            "
    + ((stack1 = alias2(alias1(depth0, "key", {"start":{"line":44,"column":14},"end":{"line":44,"column":17}} ), depth0)) != null ? stack1 : "")
    + ": "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":44,"column":23},"end":{"line":44,"column":33}} ), depth0)) != null ? stack1 : "")
    + ",\n";
},"5":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "        return self._call(definitions."
    + ((stack1 = container.lambda(container.strict(depth0, "identifier", {"start":{"line":49,"column":40},"end":{"line":49,"column":50}} ), depth0)) != null ? stack1 : "")
    + ", {}, context)\n";
},"6":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=container.strict, alias2=container.lambda, alias3=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "\n    async def "
    + ((stack1 = alias2(alias1(depth0, "identifier", {"start":{"line":61,"column":16},"end":{"line":61,"column":26}} ), depth0)) != null ? stack1 : "")
    + "(\n        self,\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"hasParams"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":63,"column":0},"end":{"line":68,"column":7}}})) != null ? stack1 : "")
    + "        context: CallContext | None = None,\n    ) -> Result["
    + ((stack1 = alias2(alias1(depth0, "row", {"start":{"line":70,"column":18},"end":{"line":70,"column":21}} ), depth0)) != null ? stack1 : "")
    + "]:\n        "
    + ((stack1 = alias2(alias1(depth0, "summary", {"start":{"line":71,"column":10},"end":{"line":71,"column":17}} ), depth0)) != null ? stack1 : "")
    + "\n        # "
    + ((stack1 = alias2(alias1(depth0, "origin", {"start":{"line":72,"column":12},"end":{"line":72,"column":18}} ), depth0)) != null ? stack1 : "")
    + "\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias3,lookupProperty(depth0,"hasParams"),{"name":"if","hash":{},"fn":container.program(7, data, 0),"inverse":container.program(8, data, 0),"data":data,"loc":{"start":{"line":73,"column":0},"end":{"line":82,"column":7}}})) != null ? stack1 : "");
},"7":function(container,depth0,helpers,partials,data) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "        given = arguments_of({\n"
    + ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"params"),{"name":"each","hash":{},"fn":container.program(4, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":75,"column":0},"end":{"line":77,"column":9}}})) != null ? stack1 : "")
    + "        })\n        return await self._call(definitions."
    + ((stack1 = container.lambda(container.strict(depth0, "identifier", {"start":{"line":79,"column":46},"end":{"line":79,"column":56}} ), depth0)) != null ? stack1 : "")
    + ", given, context)\n";
},"8":function(container,depth0,helpers,partials,data) {
    var stack1;

  return "        return await self._call(definitions."
    + ((stack1 = container.lambda(container.strict(depth0, "identifier", {"start":{"line":81,"column":46},"end":{"line":81,"column":56}} ), depth0)) != null ? stack1 : "")
    + ", {}, context)\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = container.invokePartial(lookupProperty(partials,"header"),depth0,{"name":"header","data":data,"helpers":helpers,"partials":partials,"decorators":container.decorators})) != null ? stack1 : "")
    + "\"\"\"The tools as methods, so that a type checker sees every argument and every field of a row.\"\"\"\n\nfrom __future__ import annotations\n\nfrom collections.abc import Sequence\nfrom typing import Any, Protocol\n\nfrom . import definitions, models\nfrom .context import CallContext\nfrom .protocol import R, Result, Row, Tool, arguments_of\n\n\nclass _Call(Protocol):\n    def __call__(self, tool: Tool[R], arguments: dict[str, Any], context: CallContext | None) -> Result[R]: ...\n\n\nclass _AsyncCall(Protocol):\n    async def __call__(self, tool: Tool[R], arguments: dict[str, Any], context: CallContext | None) -> Result[R]: ...\n\n\nclass Tools:\n    \"\"\"The tools, called.\"\"\"\n\n    def __init__(self, call: _Call) -> None:\n        self._call = call\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":27,"column":0},"end":{"line":51,"column":9}}})) != null ? stack1 : "")
    + "\n\nclass AsyncTools:\n    \"\"\"The tools, awaited.\"\"\"\n\n    def __init__(self, call: _AsyncCall) -> None:\n        self._call = call\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"tools"),{"name":"each","hash":{},"fn":container.program(6, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":59,"column":0},"end":{"line":83,"column":9}}})) != null ? stack1 : "");
},"usePartial":true,"useData":true},
};
