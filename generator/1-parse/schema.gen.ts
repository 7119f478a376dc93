// Code generated from specs/tds.schema.json by gen-types.ts; DO NOT EDIT.
import type { SchemaNode } from "./schema-node.js";

/** specs/tds.schema.json as a value, so that no command has to read it. */
export const tdsSchema: SchemaNode & { readonly definitions: { readonly [name: string]: SchemaNode } } = {
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "Catalog",
  "description": "A toolsrv catalog (tools.yaml): connections to vector stores and the tools made from them.",
  "type": "object",
  "required": [
    "connections"
  ],
  "properties": {
    "tds_version": {
      "description": "Version of the catalog format, in quotes.",
      "enum": [
        "1",
        "2"
      ],
      "default": "1"
    },
    "meta": {
      "$ref": "#/definitions/Meta"
    },
    "connections": {
      "description": "Vector stores by name. Built-in tools are named after their connection.",
      "type": "object",
      "additionalProperties": {
        "$ref": "#/definitions/Connection"
      }
    },
    "defaults": {
      "description": "Settings that tools inherit.",
      "type": "object",
      "properties": {
        "embedding": {
          "$ref": "#/definitions/Embedding"
        }
      }
    },
    "deadline_s": {
      "description": "Seconds one tool call may take (25 when absent).",
      "type": "number",
      "exclusiveMinimum": 0,
      "maximum": 3600
    },
    "authoring": {
      "description": "Tools that let a model propose tools.",
      "type": "object",
      "properties": {
        "define_tool": {
          "description": "Offer describe_collection and define_tool.",
          "type": "boolean",
          "default": false
        }
      }
    },
    "skill": {
      "description": "Offer an agent skill of the catalog over MCP (io.modelcontextprotocol/skills); each caller sees the tools that it may call.",
      "type": "object",
      "required": [
        "name"
      ],
      "properties": {
        "name": {
          "description": "Name of the skill, which hosts show.",
          "type": "string",
          "pattern": "^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$",
          "patternErrorMessage": "a skill's name has 1 to 64 lower-case letters, digits and single hyphens"
        }
      }
    },
    "security": {
      "$ref": "#/definitions/Security"
    },
    "observability": {
      "$ref": "#/definitions/Observability"
    },
    "profiles": {
      "description": "Presets that refuse a catalog which does not comply.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "enterprise": {
          "$ref": "#/definitions/EnterpriseProfile"
        }
      }
    },
    "tools": {
      "description": "The tools, in the order they are advertised.",
      "type": "array",
      "items": {
        "$ref": "#/definitions/Tool"
      },
      "default": []
    }
  },
  "definitions": {
    "Meta": {
      "description": "Facts about the catalog itself.",
      "type": "object",
      "properties": {
        "tool_catalog_version": {
          "description": "Version of this catalog; counted up by each approval.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "deprecated": {
          "description": "Notes on retired tools; carried along, not interpreted.",
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": true
          },
          "default": []
        }
      }
    },
    "FieldPath": {
      "description": "A payload field: up to three names joined by dots.",
      "type": "string",
      "pattern": "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*){0,2}$",
      "patternErrorMessage": "a field path is one to three names of letters, digits and underscores, joined by dots"
    },
    "Connection": {
      "description": "A store. `backend` decides which other keys there are.",
      "oneOf": [
        {
          "$ref": "#/definitions/SqliteConnection"
        },
        {
          "$ref": "#/definitions/QdrantConnection"
        },
        {
          "$ref": "#/definitions/PgvectorConnection"
        },
        {
          "$ref": "#/definitions/ChromaConnection"
        },
        {
          "$ref": "#/definitions/PineconeConnection"
        },
        {
          "$ref": "#/definitions/WeaviateConnection"
        },
        {
          "$ref": "#/definitions/MilvusConnection"
        }
      ]
    },
    "SqliteConnection": {
      "description": "The embedded store: one file, no server. `toolsrv load` fills it.",
      "type": "object",
      "required": [
        "backend",
        "path"
      ],
      "properties": {
        "backend": {
          "const": "sqlite"
        },
        "path": {
          "description": "Database file, relative to the catalog's folder.",
          "type": "string",
          "minLength": 1
        },
        "codes_memory_mb": {
          "description": "Most memory for the codes of large collections, in MiB; what does not fit is read from the file. Without it: 1024, or a quarter of the memory that the process may use if that is less.",
          "type": [
            "null",
            "integer"
          ],
          "minimum": 0,
          "maximum": 65536,
          "default": null
        },
        "builtin_tools": {
          "$ref": "#/definitions/BuiltinTools"
        },
        "builtin_defaults": {
          "$ref": "#/definitions/BuiltinDefaults"
        },
        "credentials": {
          "$ref": "#/definitions/Credentials"
        }
      }
    },
    "QdrantConnection": {
      "description": "A Qdrant server.",
      "type": "object",
      "required": [
        "backend",
        "url"
      ],
      "properties": {
        "backend": {
          "const": "qdrant"
        },
        "url": {
          "description": "Address of the REST interface.",
          "type": "string"
        },
        "api_key": {
          "description": "API key; write an environment reference.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "builtin_tools": {
          "$ref": "#/definitions/BuiltinTools"
        },
        "builtin_defaults": {
          "$ref": "#/definitions/BuiltinDefaults"
        },
        "credentials": {
          "$ref": "#/definitions/Credentials"
        }
      }
    },
    "PgvectorConnection": {
      "description": "PostgreSQL with the pgvector extension.",
      "type": "object",
      "required": [
        "backend",
        "dsn"
      ],
      "properties": {
        "backend": {
          "const": "pgvector"
        },
        "dsn": {
          "description": "Connection string; write an environment reference. `pglite://FOLDER` reads a database of PGlite within the process, relative to the catalog's folder.",
          "type": "string"
        },
        "table": {
          "description": "Table to read; the tool's collection when absent.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "vector_column": {
          "description": "Column of the vectors; null means a plain table.",
          "type": [
            "null",
            "string"
          ],
          "default": "embedding"
        },
        "mode": {
          "description": "`table` reads rows without vectors.",
          "enum": [
            "vector",
            "table",
            null
          ],
          "default": null
        },
        "id_column": {
          "description": "Column of the record id.",
          "type": "string",
          "default": "id"
        },
        "builtin_tools": {
          "$ref": "#/definitions/BuiltinTools"
        },
        "builtin_defaults": {
          "$ref": "#/definitions/BuiltinDefaults"
        },
        "credentials": {
          "$ref": "#/definitions/Credentials"
        }
      }
    },
    "ChromaConnection": {
      "description": "A Chroma server.",
      "type": "object",
      "required": [
        "backend",
        "url"
      ],
      "properties": {
        "backend": {
          "const": "chroma"
        },
        "url": {
          "description": "Address of the server.",
          "type": "string"
        },
        "auth_token": {
          "description": "Token sent as Authorization: Bearer; write an environment reference.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "builtin_tools": {
          "$ref": "#/definitions/BuiltinTools"
        },
        "builtin_defaults": {
          "$ref": "#/definitions/BuiltinDefaults"
        },
        "credentials": {
          "$ref": "#/definitions/Credentials"
        }
      }
    },
    "PineconeConnection": {
      "description": "A Pinecone index. A tool's collection names a namespace of it.",
      "type": "object",
      "required": [
        "backend",
        "api_key",
        "host"
      ],
      "properties": {
        "backend": {
          "const": "pinecone"
        },
        "api_key": {
          "description": "API key; write an environment reference.",
          "type": "string"
        },
        "host": {
          "description": "Host of the index.",
          "type": "string"
        },
        "namespace": {
          "description": "Namespace for tools whose collection is empty.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "builtin_tools": {
          "$ref": "#/definitions/BuiltinTools"
        },
        "builtin_defaults": {
          "$ref": "#/definitions/BuiltinDefaults"
        },
        "credentials": {
          "$ref": "#/definitions/Credentials"
        }
      }
    },
    "WeaviateConnection": {
      "description": "A Weaviate server.",
      "type": "object",
      "required": [
        "backend",
        "url"
      ],
      "properties": {
        "backend": {
          "const": "weaviate"
        },
        "url": {
          "description": "Address of the server.",
          "type": "string"
        },
        "api_key": {
          "description": "API key; write an environment reference.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "grpc_url": {
          "description": "Address of its gRPC service, which searches go to; port 50051 of the same host when absent.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "tenant": {
          "description": "Native tenant of multi-tenant collections.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "embedding_mode": {
          "description": "Who embeds query texts; auto asks the collection.",
          "enum": [
            "auto",
            "client",
            "server"
          ],
          "default": "auto"
        },
        "builtin_tools": {
          "$ref": "#/definitions/BuiltinTools"
        },
        "builtin_defaults": {
          "$ref": "#/definitions/BuiltinDefaults"
        },
        "credentials": {
          "$ref": "#/definitions/Credentials"
        }
      }
    },
    "MilvusConnection": {
      "description": "A Milvus server.",
      "type": "object",
      "required": [
        "backend",
        "uri"
      ],
      "properties": {
        "backend": {
          "const": "milvus"
        },
        "uri": {
          "description": "Address of the server.",
          "type": "string"
        },
        "token": {
          "description": "Token; write an environment reference.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "user": {
          "description": "User name, when no token is used.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "password": {
          "description": "Password; write an environment reference.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "database": {
          "description": "Database (`default` when absent).",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "builtin_tools": {
          "$ref": "#/definitions/BuiltinTools"
        },
        "builtin_defaults": {
          "$ref": "#/definitions/BuiltinDefaults"
        },
        "credentials": {
          "$ref": "#/definitions/Credentials"
        }
      }
    },
    "BuiltinTools": {
      "description": "Tools made for this connection without writing them out.",
      "type": "object",
      "properties": {
        "semantic_search": {
          "description": "search_<connection>: search by meaning.",
          "type": "boolean",
          "default": false
        },
        "get_by_id": {
          "description": "get_<connection>_by_id: one record by its id.",
          "type": "boolean",
          "default": false
        },
        "count": {
          "description": "count_<connection>: how many records there are.",
          "type": "boolean",
          "default": false
        },
        "list_collections": {
          "description": "list_<connection>_collections: what can be searched.",
          "type": "boolean",
          "default": false
        }
      }
    },
    "BuiltinDefaults": {
      "description": "Settings of this connection's built-in tools.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "collections": {
          "description": "Collections the built-ins may read: one fixes it, several make an argument, absent allows any.",
          "type": [
            "array",
            "null"
          ],
          "items": {
            "type": "string"
          },
          "default": null
        },
        "static_filters": {
          "$ref": "#/definitions/StaticFilters"
        },
        "dtypes": {
          "$ref": "#/definitions/FieldTypes"
        },
        "output": {
          "anyOf": [
            {
              "$ref": "#/definitions/Output"
            },
            {
              "type": "null"
            }
          ]
        },
        "descriptions": {
          "description": "Descriptions by built-in (semantic_search, get_by_id, count, list_collections).",
          "type": [
            "object",
            "null"
          ],
          "additionalProperties": {
            "type": "string"
          },
          "default": null
        }
      }
    },
    "Credentials": {
      "description": "Where this connection's secrets come from.",
      "type": "object",
      "properties": {
        "provider": {
          "description": "Secret source.",
          "enum": [
            "env",
            "vault",
            "aws_sm",
            "k8s"
          ],
          "default": "env"
        },
        "vault": {
          "description": "A key-value secret read over HTTP.",
          "type": [
            "object",
            "null"
          ],
          "properties": {
            "addr": {
              "description": "Address; VAULT_ADDR when absent.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            },
            "path": {
              "description": "Path of the secret.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            },
            "role": {
              "description": "Role sent with the request.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            }
          }
        },
        "aws_sm": {
          "description": "A cloud secrets manager.",
          "type": [
            "object",
            "null"
          ],
          "properties": {
            "secret_id": {
              "description": "Name or ARN of the secret.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            },
            "region": {
              "description": "Region; AWS_REGION when absent.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            }
          }
        },
        "k8s": {
          "description": "A secret of the cluster the server runs in.",
          "type": [
            "object",
            "null"
          ],
          "properties": {
            "secret": {
              "description": "Name of the secret.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            },
            "key": {
              "description": "One key of it; all keys when absent.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            },
            "namespace": {
              "description": "Namespace; the pod's own when absent.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            }
          }
        }
      }
    },
    "EmbeddingProvider": {
      "description": "Who turns texts into vectors. fastembed, openai, azure_openai and cohere are older names of local, hosted, hosted_cloud and hosted_alt.",
      "enum": [
        "local",
        "hosted",
        "hosted_cloud",
        "http",
        "hosted_alt",
        "fastembed",
        "openai",
        "azure_openai",
        "cohere"
      ],
      "default": "local"
    },
    "Embedding": {
      "description": "Embedding of query texts: '<provider>/<model>' or an object. Built in without any download: local/hashing-256, local/hashing-512, local/hashing-1024.",
      "anyOf": [
        {
          "type": "string",
          "title": "EmbeddingName"
        },
        {
          "title": "EmbeddingObject",
          "type": "object",
          "properties": {
            "provider": {
              "$ref": "#/definitions/EmbeddingProvider"
            },
            "model": {
              "description": "Model id; where it is absent, the default model of the provider.",
              "type": "string"
            },
            "dims": {
              "description": "Length of the vectors; needed for models that are not known.",
              "type": [
                "integer",
                "null"
              ],
              "minimum": 1,
              "maximum": 65536,
              "default": null
            },
            "config": {
              "$ref": "#/definitions/EmbeddingConfig"
            },
            "space": {
              "description": "What `toolsrv lock --embedding` wrote: digests of fixed texts. `validate --live` and /readyz refuse a model that embeds them otherwise.",
              "type": "string",
              "pattern": "^1\\.[1-9][0-9]{0,4}\\.[A-Za-z0-9_-]{128}$",
              "patternErrorMessage": "a space is the text that `toolsrv lock --embedding` prints"
            }
          }
        },
        {
          "type": "null"
        }
      ]
    },
    "EmbeddingConfig": {
      "description": "Settings of the provider of embeddings, each with those that read it; environment references are allowed here.",
      "type": "object",
      "additionalProperties": true,
      "default": {},
      "properties": {
        "model_dir": {
          "description": "local: folder of a model in ONNX form (config.json, tokenizer.json, onnx/model.onnx), relative to the catalog; nothing is downloaded."
        },
        "dtype": {
          "description": "local: which file of the model is used: fp32 is onnx/model.onnx, q8 is onnx/model_quantized.onnx."
        },
        "pooling": {
          "description": "local: how a sentence model makes one vector of a text: mean or cls."
        },
        "query_prefix": {
          "description": "local, hosted, hosted_cloud, http, hosted_alt: text put before each query, as some models want it (query: )."
        },
        "document_prefix": {
          "description": "local, hosted, hosted_cloud, http, hosted_alt: text put before each text that load stores (passage: )."
        },
        "cache_ttl_s": {
          "description": "local, hosted, hosted_cloud, http, hosted_alt: read for older catalogs; vectors are always cached."
        },
        "api_key": {
          "description": "hosted, hosted_cloud, hosted_alt. http: sent as Authorization: Bearer, unless headers has an Authorization."
        },
        "base_url": {
          "description": "hosted: address of the API; OpenAI's when absent. hosted_cloud: another name of endpoint. http: address that texts are posted to; required. hosted_alt: address of the API; Cohere's when absent."
        },
        "timeout_s": {
          "description": "hosted, hosted_cloud, http, hosted_alt: seconds one request may take."
        },
        "batch_size": {
          "description": "hosted, hosted_cloud, http, hosted_alt: texts in one request."
        },
        "max_retries": {
          "description": "hosted, hosted_cloud, http, hosted_alt: times a request is sent again after an answer 429 or 5xx."
        },
        "retry_backoff_s": {
          "description": "hosted, hosted_cloud, http, hosted_alt: seconds before the first retry, twice as many before the second; less at random, and never less than the service asks for."
        },
        "endpoint": {
          "description": "hosted_cloud: address of the resource."
        },
        "deployment": {
          "description": "hosted_cloud: name of the deployment; the model's name when absent."
        },
        "api_version": {
          "description": "hosted_cloud: version of the API."
        },
        "headers": {
          "description": "http: headers of each request."
        },
        "request": {
          "description": "http: names of the fields in the body: model_field (model) and input_field (input)."
        },
        "response": {
          "description": "http: where the vectors are in the answer: vectors_path (data[*].embedding)."
        },
        "model": {
          "description": "hosted_alt: overrides the model of the embedding."
        },
        "input_type": {
          "description": "hosted_alt: what queries are; texts that load stores are search_document beside search_query."
        }
      }
    },
    "Op": {
      "description": "Comparison of a field with a value.",
      "enum": [
        "eq",
        "ne",
        "gt",
        "gte",
        "lt",
        "lte",
        "in",
        "nin",
        "exists",
        "is_null",
        "contains_any",
        "contains_all",
        "like",
        "text_match"
      ]
    },
    "StaticCondition": {
      "description": "One condition that always applies.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "path",
        "value"
      ],
      "properties": {
        "path": {
          "$ref": "#/definitions/FieldPath"
        },
        "op": {
          "$ref": "#/definitions/Op",
          "default": "eq"
        },
        "value": {
          "description": "What the field is compared with."
        }
      }
    },
    "StaticFilters": {
      "description": "Conditions that are ANDed into every read of the tool and never shown to the model. A list means must.",
      "anyOf": [
        {
          "title": "StaticFilterList",
          "type": "array",
          "items": {
            "$ref": "#/definitions/StaticCondition"
          }
        },
        {
          "title": "StaticFilterObject",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "must": {
              "description": "Each of these holds for every record returned.",
              "type": "array",
              "items": {
                "$ref": "#/definitions/StaticCondition"
              },
              "default": []
            },
            "must_not": {
              "description": "None of these holds for any record returned.",
              "type": "array",
              "items": {
                "$ref": "#/definitions/StaticCondition"
              },
              "default": []
            }
          }
        },
        {
          "type": "null"
        }
      ]
    },
    "Query": {
      "description": "Search by text.",
      "type": "object",
      "properties": {
        "param": {
          "description": "Name of the argument that carries the text.",
          "type": "string",
          "pattern": "^(?!(?:constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf)$|__)[A-Za-z_][A-Za-z0-9_.-]{0,63}$",
          "patternErrorMessage": "the name of the query's argument has 1 to 64 letters, digits, underscores, dots and hyphens, starts with a letter, and is none that clients written in JavaScript find in every object",
          "default": "query"
        },
        "required": {
          "description": "The text must be given.",
          "type": "boolean",
          "default": false
        },
        "embedding": {
          "$ref": "#/definitions/Embedding"
        },
        "mode": {
          "description": "`hybrid` combines vectors with full text.",
          "enum": [
            "dense",
            "hybrid"
          ],
          "default": "dense"
        },
        "alpha": {
          "description": "Weight of the vectors in hybrid mode.",
          "type": "number",
          "minimum": 0,
          "maximum": 1,
          "default": 0.5
        },
        "min_score": {
          "description": "Rows scoring below are left out (0 to 1).",
          "type": [
            "number",
            "null"
          ],
          "default": null
        },
        "ef": {
          "description": "Search effort of an HNSW index.",
          "type": [
            "integer",
            "null"
          ],
          "minimum": 1,
          "maximum": 10000,
          "default": null
        },
        "expand": {
          "$ref": "#/definitions/Expand"
        }
      }
    },
    "Expand": {
      "description": "Rewrites the query text into variants that are searched too.",
      "type": [
        "object",
        "null"
      ],
      "properties": {
        "enabled": {
          "description": "Expand queries.",
          "type": "boolean",
          "default": false
        },
        "provider": {
          "description": "Who writes the variants (openai is an older name of hosted).",
          "enum": [
            "hosted",
            "http",
            "none",
            "openai"
          ],
          "default": "none"
        },
        "model": {
          "description": "Model id; where it is absent, the default model of the provider.",
          "type": "string"
        },
        "variants": {
          "description": "How many variants.",
          "type": "integer",
          "minimum": 1,
          "maximum": 5,
          "default": 3
        },
        "config": {
          "$ref": "#/definitions/ExpandConfig"
        }
      }
    },
    "ExpandConfig": {
      "description": "Settings of the provider of query expansion, each with those that read it; environment references are allowed here.",
      "type": "object",
      "additionalProperties": true,
      "default": {},
      "properties": {
        "api_key": {
          "description": "hosted. http: sent as Authorization: Bearer."
        },
        "base_url": {
          "description": "hosted: address of the API; OpenAI's when absent. http: address that the query is posted to; required."
        },
        "prompt": {
          "description": "hosted: text of the request, with {variants} and {query}."
        },
        "timeout_s": {
          "description": "hosted, http: seconds one request may take."
        },
        "url": {
          "description": "http: another name of base_url."
        },
        "headers": {
          "description": "http: headers of each request."
        }
      }
    },
    "FieldTypes": {
      "description": "Types of stored fields, by path, where no parameter says them. Fields of type datetime are compared as points in time in static filters, step filters, expressions and sorts; load stores values by these types.",
      "type": [
        "object",
        "null"
      ],
      "additionalProperties": {
        "description": "Type of the stored field.",
        "enum": [
          "keyword",
          "integer",
          "float",
          "boolean",
          "datetime",
          "keyword[]"
        ]
      },
      "default": null
    },
    "Parameter": {
      "description": "An argument of the tool. With a path or an op it filters; without, it is for pipeline expressions.",
      "type": "object",
      "required": [
        "name"
      ],
      "properties": {
        "name": {
          "description": "Name of the argument.",
          "type": "string",
          "pattern": "^(?!constructor$)[a-z][a-z0-9_]{0,31}$",
          "patternErrorMessage": "a parameter name has 1 to 32 lower-case letters, digits and underscores, starts with a letter, and is not 'constructor', which clients written in JavaScript find in every object"
        },
        "path": {
          "description": "Payload field it filters on; the name when only op is given.",
          "anyOf": [
            {
              "$ref": "#/definitions/FieldPath"
            },
            {
              "type": "null"
            }
          ],
          "default": null
        },
        "dtype": {
          "description": "Type of the stored field.",
          "enum": [
            "keyword",
            "integer",
            "float",
            "boolean",
            "datetime",
            "keyword[]",
            "unknown"
          ],
          "default": "keyword"
        },
        "op": {
          "description": "Comparison; eq when only path is given.",
          "enum": [
            "eq",
            "ne",
            "gt",
            "gte",
            "lt",
            "lte",
            "in",
            "nin",
            "exists",
            "is_null",
            "contains_any",
            "contains_all",
            "like",
            "text_match",
            null
          ],
          "default": null
        },
        "required": {
          "description": "The caller must give it.",
          "type": "boolean",
          "default": false
        },
        "description": {
          "description": "What the model reads about it.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "enum": {
          "description": "The values allowed.",
          "type": [
            "array",
            "null"
          ],
          "items": {
            "type": [
              "string",
              "number",
              "boolean"
            ]
          },
          "maxItems": 100,
          "default": null
        },
        "default": {
          "description": "Value used when the caller gives none."
        },
        "max": {
          "description": "Largest number allowed.",
          "type": [
            "number",
            "null"
          ],
          "default": null
        },
        "max_length": {
          "description": "Longest text allowed, in characters; in a list, of each entry (1,024 when absent).",
          "type": [
            "integer",
            "null"
          ],
          "minimum": 1,
          "maximum": 65536,
          "default": null
        },
        "resolve": {
          "anyOf": [
            {
              "$ref": "#/definitions/Resolve"
            },
            {
              "type": "null"
            }
          ],
          "default": null
        }
      }
    },
    "Resolve": {
      "description": "Finds the stored spelling of what the model wrote.",
      "type": "object",
      "properties": {
        "kind": {
          "description": "`directory` looks the value up among stored ones.",
          "enum": [
            "directory",
            "enum"
          ],
          "default": "enum"
        },
        "connection": {
          "description": "Connection of the directory; the tool's own when absent.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "collection": {
          "description": "Collection of the directory; the tool's own when absent.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "field": {
          "description": "Field that holds the names.",
          "type": [
            "null",
            "string"
          ],
          "default": null
        },
        "static_filters": {
          "$ref": "#/definitions/StaticFilters"
        },
        "min_confidence": {
          "description": "Similarity a match needs.",
          "type": "number",
          "minimum": 0,
          "maximum": 1,
          "default": 0.72
        },
        "max_candidates": {
          "description": "Records read for the directory.",
          "type": "integer",
          "minimum": 1,
          "maximum": 50000,
          "default": 5000
        },
        "cache_ttl_s": {
          "description": "Seconds the directory is kept.",
          "type": "integer",
          "minimum": 1,
          "maximum": 86400,
          "default": 600
        }
      }
    },
    "Output": {
      "description": "What leaves the process.",
      "type": "object",
      "properties": {
        "fields": {
          "description": "Fields returned, in this order; absent returns all.",
          "type": [
            "array",
            "null"
          ],
          "items": {
            "$ref": "#/definitions/FieldPath"
          },
          "default": null
        },
        "limit_default": {
          "description": "Rows returned when the caller does not say.",
          "type": "integer",
          "minimum": 1,
          "maximum": 500,
          "default": 10
        },
        "limit_max": {
          "description": "Most rows a caller may ask for.",
          "type": "integer",
          "minimum": 1,
          "maximum": 500,
          "default": 50
        },
        "include_score": {
          "description": "Return _score.",
          "type": "boolean",
          "default": true
        },
        "include_id": {
          "description": "Return _id.",
          "type": "boolean",
          "default": true
        },
        "max_field_length": {
          "description": "Longest text returned, in characters.",
          "type": [
            "integer",
            "null"
          ],
          "minimum": 1,
          "maximum": 100000,
          "default": null
        },
        "truncate_suffix": {
          "description": "Ends a text that was cut.",
          "type": "string",
          "default": "…"
        },
        "redact": {
          "description": "Fields hidden or changed before they leave.",
          "type": "array",
          "items": {
            "$ref": "#/definitions/Redact"
          },
          "default": []
        }
      }
    },
    "Redact": {
      "description": "One field hidden or changed.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "path"
      ],
      "properties": {
        "path": {
          "$ref": "#/definitions/FieldPath"
        },
        "mode": {
          "description": "`omit` drops it, `hash` shows 8 digits of its SHA-256, `mask` shows ***, `pattern` replaces matches.",
          "enum": [
            "omit",
            "hash",
            "mask",
            "pattern"
          ],
          "default": "omit"
        },
        "patterns": {
          "description": "Replacements of mode pattern, applied in order.",
          "type": "array",
          "default": [],
          "items": {
            "title": "RedactPattern",
            "type": "object",
            "additionalProperties": false,
            "required": [
              "regex"
            ],
            "properties": {
              "regex": {
                "description": "Regular expression.",
                "type": "string"
              },
              "replacement": {
                "description": "What a match becomes; \\1 is a group.",
                "type": "string",
                "default": "[redacted]"
              }
            }
          }
        }
      }
    },
    "Rerank": {
      "description": "Fetches more rows and puts them in a better order.",
      "type": [
        "object",
        "null"
      ],
      "properties": {
        "enabled": {
          "description": "Rerank.",
          "type": "boolean",
          "default": false
        },
        "provider": {
          "description": "Who reranks; cross_encoder runs locally (cohere is an older name of hosted_alt).",
          "enum": [
            "hosted_alt",
            "cross_encoder",
            "http",
            "cohere"
          ],
          "default": "http"
        },
        "model": {
          "description": "Model id; where it is absent, the default model of the provider.",
          "type": "string"
        },
        "retrieve_k": {
          "description": "Rows fetched before reranking.",
          "type": "integer",
          "minimum": 1,
          "maximum": 500,
          "default": 50
        },
        "config": {
          "$ref": "#/definitions/RerankConfig"
        }
      }
    },
    "RerankConfig": {
      "description": "Settings of the reranker, each with those that read it; environment references are allowed here.",
      "type": "object",
      "additionalProperties": true,
      "default": {},
      "properties": {
        "base_url": {
          "description": "http: address that documents are posted to; required. hosted_alt: address of the API; Cohere's when absent."
        },
        "url": {
          "description": "http: another name of base_url."
        },
        "headers": {
          "description": "http: headers of each request."
        },
        "api_key": {
          "description": "http: sent as Authorization: Bearer. hosted_alt."
        },
        "timeout_s": {
          "description": "http, hosted_alt: seconds one request may take."
        },
        "model_dir": {
          "description": "cross_encoder: folder of a model in ONNX form (config.json, tokenizer.json, onnx/model.onnx), relative to the catalog; nothing is downloaded."
        },
        "dtype": {
          "description": "cross_encoder: which file of the model is used: fp32 is onnx/model.onnx, q8 is onnx/model_quantized.onnx."
        },
        "model": {
          "description": "cross_encoder: the model, where rerank.model is empty."
        }
      }
    },
    "Target": {
      "description": "What the tool reads.",
      "type": "object",
      "required": [
        "connection",
        "collection"
      ],
      "properties": {
        "connection": {
          "description": "Name of a connection.",
          "type": "string"
        },
        "collection": {
          "description": "Collection, table, class or namespace of it."
        }
      }
    },
    "Tool": {
      "description": "One tool.",
      "type": "object",
      "required": [
        "name",
        "description"
      ],
      "properties": {
        "name": {
          "description": "Name the model calls; unique.",
          "type": "string",
          "pattern": "^[a-z][a-z0-9_]{2,63}$",
          "patternErrorMessage": "a tool name has 3 to 64 lower-case letters, digits and underscores and starts with a letter"
        },
        "description": {
          "description": "What the model reads to decide; 20 to 1024 characters.",
          "type": "string",
          "minLength": 20,
          "maxLength": 1024
        },
        "kind": {
          "description": "search by text or filters, lookup one record, count, scroll through records, or run a pipeline.",
          "enum": [
            "search",
            "lookup",
            "count",
            "scroll",
            "pipeline",
            "meta"
          ],
          "default": "search"
        },
        "target": {
          "anyOf": [
            {
              "$ref": "#/definitions/Target"
            },
            {
              "type": "null"
            }
          ],
          "default": null
        },
        "query": {
          "anyOf": [
            {
              "$ref": "#/definitions/Query"
            },
            {
              "type": "null"
            }
          ],
          "default": null
        },
        "parameters": {
          "description": "Arguments, in the order they are advertised.",
          "type": "array",
          "items": {
            "$ref": "#/definitions/Parameter"
          },
          "maxItems": 12,
          "default": []
        },
        "static_filters": {
          "$ref": "#/definitions/StaticFilters"
        },
        "dtypes": {
          "$ref": "#/definitions/FieldTypes"
        },
        "filter_logic": {
          "description": "How the conditions of arguments combine.",
          "enum": [
            "and"
          ],
          "default": "and"
        },
        "steps": {
          "description": "Steps of a pipeline; the first is retrieve.",
          "type": [
            "array",
            "null"
          ],
          "items": {
            "$ref": "#/definitions/Step"
          },
          "minItems": 1,
          "default": null
        },
        "output": {
          "$ref": "#/definitions/Output"
        },
        "rerank": {
          "$ref": "#/definitions/Rerank"
        },
        "quality": {
          "$ref": "#/definitions/Quality"
        },
        "deadline_s": {
          "description": "Seconds one call may take; the catalog's deadline when absent.",
          "type": "number",
          "exclusiveMinimum": 0,
          "maximum": 3600
        }
      },
      "allOf": [
        {
          "if": {
            "properties": {
              "kind": {
                "enum": [
                  "search",
                  "lookup",
                  "count",
                  "scroll"
                ]
              }
            }
          },
          "then": {
            "required": [
              "target"
            ],
            "properties": {
              "steps": {
                "type": "null"
              }
            }
          }
        },
        {
          "if": {
            "required": [
              "kind"
            ],
            "properties": {
              "kind": {
                "enum": [
                  "pipeline"
                ]
              }
            }
          },
          "then": {
            "required": [
              "steps"
            ],
            "properties": {
              "target": {
                "type": "null"
              }
            }
          }
        }
      ]
    },
    "Quality": {
      "title": "Quality",
      "description": "What the searches of the tool must be shown to achieve before it is built.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "min_recall"
      ],
      "properties": {
        "min_recall": {
          "description": "Least share of the right rows that a search must find, for each tenant that was sampled: above 0, at most 1. `build` fails unless the certificate of `toolsrv recall` beside the catalog shows it.",
          "type": "number",
          "exclusiveMinimum": 0,
          "maximum": 1
        }
      }
    },
    "Step": {
      "description": "One step of a pipeline: a mapping with exactly one key.",
      "type": "object",
      "additionalProperties": false,
      "minProperties": 1,
      "maxProperties": 1,
      "properties": {
        "retrieve": {
          "$ref": "#/definitions/RetrieveStep"
        },
        "post_filter": {
          "$ref": "#/definitions/PostFilterStep"
        },
        "group_by": {
          "$ref": "#/definitions/GroupByStep"
        },
        "sort": {
          "$ref": "#/definitions/SortStep"
        },
        "project": {
          "$ref": "#/definitions/ProjectStep"
        }
      }
    },
    "RetrieveStep": {
      "description": "Reads candidates from a store.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "target"
      ],
      "properties": {
        "target": {
          "$ref": "#/definitions/Target"
        },
        "query": {
          "anyOf": [
            {
              "$ref": "#/definitions/Query"
            },
            {
              "type": "null"
            }
          ],
          "default": null
        },
        "filter": {
          "description": "Filter of this step: {path, op, value}, {path, op, param}, {and: [...]}, {or: [...]}."
        },
        "fetch": {
          "title": "Fetch",
          "description": "How many candidates are read.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "k_param": {
              "description": "Argument that says how many rows the caller wants.",
              "type": "string",
              "default": "limit"
            },
            "overfetch_factor": {
              "description": "Candidates read for each row wanted.",
              "type": "integer",
              "minimum": 1,
              "maximum": 50,
              "default": 10
            },
            "max_candidates": {
              "description": "Most candidates ever read.",
              "type": "integer",
              "minimum": 10,
              "maximum": 20000,
              "default": 2000
            }
          }
        }
      }
    },
    "PostFilterStep": {
      "description": "Keeps the rows for which an expression is true.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "expr"
      ],
      "properties": {
        "expr": {
          "description": "Expression over fields and params.NAME.",
          "type": "string"
        }
      }
    },
    "GroupByStep": {
      "description": "Groups rows and keeps a few of each group.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "keys"
      ],
      "properties": {
        "keys": {
          "description": "Fields that make a group.",
          "type": "array",
          "items": {
            "$ref": "#/definitions/FieldPath"
          },
          "minItems": 1,
          "maxItems": 3
        },
        "per_group": {
          "anyOf": [
            {
              "title": "PerGroup",
              "type": "object",
              "additionalProperties": false,
              "required": [
                "sort_by"
              ],
              "properties": {
                "sort_by": {
                  "$ref": "#/definitions/FieldPath"
                },
                "desc": {
                  "description": "Largest first.",
                  "type": "boolean",
                  "default": true
                },
                "take": {
                  "description": "Rows kept of each group: a number or params.NAME.",
                  "anyOf": [
                    {
                      "type": "integer"
                    },
                    {
                      "type": "string"
                    }
                  ],
                  "default": 3
                }
              }
            },
            {
              "type": "null"
            }
          ],
          "default": null
        }
      }
    },
    "SortStep": {
      "description": "Orders rows by one field.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "by"
      ],
      "properties": {
        "by": {
          "$ref": "#/definitions/FieldPath"
        },
        "desc": {
          "description": "Largest first.",
          "type": "boolean",
          "default": true
        },
        "nulls": {
          "description": "Where rows without the field go.",
          "enum": [
            "first",
            "last"
          ],
          "default": "last"
        }
      }
    },
    "ProjectStep": {
      "description": "Keeps only some fields.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "fields"
      ],
      "properties": {
        "fields": {
          "description": "Fields kept.",
          "type": "array",
          "items": {
            "$ref": "#/definitions/FieldPath"
          },
          "minItems": 1
        }
      }
    },
    "DocumentAcl": {
      "title": "DocumentAcl",
      "description": "Restricts each read to the rows whose fields meet the caller's claims.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "rules"
      ],
      "properties": {
        "combine": {
          "description": "Whether a row must pass all of the rules or any of them.",
          "enum": [
            "all",
            "any"
          ],
          "default": "all"
        },
        "rules": {
          "description": "What of the caller meets what of the row.",
          "type": "array",
          "items": {
            "$ref": "#/definitions/DocumentAclRule"
          },
          "minItems": 1,
          "maxItems": 16
        }
      }
    },
    "DocumentAclRule": {
      "title": "DocumentAclRule",
      "description": "One comparison of a claim with a field; exactly one key.",
      "type": "object",
      "additionalProperties": false,
      "minProperties": 1,
      "maxProperties": 1,
      "properties": {
        "any_of": {
          "description": "The claim, a list or one value, has at least one value of the field, a list or one value.",
          "$ref": "#/definitions/ClaimAndField"
        },
        "equals": {
          "description": "The claim, one value, is the value of the field.",
          "$ref": "#/definitions/ClaimAndField"
        },
        "at_most": {
          "description": "The field is a number that is at most the claim, also a number.",
          "$ref": "#/definitions/ClaimAndField"
        }
      }
    },
    "ClaimAndField": {
      "title": "ClaimAndField",
      "description": "A claim of the caller and a field of the row.",
      "type": "object",
      "additionalProperties": false,
      "required": [
        "claim",
        "field"
      ],
      "properties": {
        "claim": {
          "description": "Name of the caller's claim.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256
        },
        "field": {
          "$ref": "#/definitions/FieldPath"
        }
      }
    },
    "Security": {
      "description": "Who may call what, and what they may see.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "tenancy": {
          "title": "Tenancy",
          "description": "Restricts each read to the caller's tenant.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "mode": {
              "description": "Where the tenant comes from.",
              "enum": [
                "none",
                "static",
                "claim",
                "header"
              ],
              "default": "none"
            },
            "claim": {
              "description": "Claim that names the tenant (mode claim).",
              "type": [
                "null",
                "string"
              ],
              "default": null
            },
            "header": {
              "description": "HTTP header that names the tenant (mode header).",
              "type": "string",
              "default": "X-Tenant-Id"
            },
            "header_encoding": {
              "description": "How the header's value is written; without it, plain ASCII only.",
              "enum": [
                "percent",
                "base64url"
              ]
            },
            "path": {
              "description": "Payload field of the tenant.",
              "type": "string",
              "pattern": "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*){0,2}$",
              "patternErrorMessage": "a field path is one to three names of letters, digits and underscores, joined by dots",
              "default": "tenant_id"
            },
            "op": {
              "description": "Comparison with the tenant.",
              "enum": [
                "eq"
              ],
              "default": "eq"
            },
            "enforce": {
              "description": "What happens when an argument names another tenant.",
              "enum": [
                "strict",
                "override",
                "warn"
              ],
              "default": "strict"
            }
          }
        },
        "document_acl": {
          "$ref": "#/definitions/DocumentAcl"
        },
        "auth": {
          "title": "Auth",
          "description": "Settings of the --auth modes.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "mode": {
              "description": "The --auth that the catalog is meant for; another one is refused, save none on loopback.",
              "enum": [
                "builtin",
                "jwt",
                "api_key",
                "none",
                null
              ],
              "default": null
            },
            "builtin": {
              "title": "Builtin",
              "description": "Settings of --auth builtin.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "id_jag": {
                  "title": "IdJag",
                  "description": "Identity provider whose assertions (ID-JAG) clients exchange for tokens: enterprise-managed authorization.",
                  "type": "object",
                  "additionalProperties": false,
                  "required": [
                    "issuer",
                    "jwks_url"
                  ],
                  "properties": {
                    "issuer": {
                      "description": "Issuer of the assertions.",
                      "type": "string"
                    },
                    "jwks_url": {
                      "description": "Where its keys are.",
                      "type": "string"
                    },
                    "algorithms": {
                      "description": "Signature algorithms accepted.",
                      "type": "array",
                      "items": {
                        "type": "string"
                      },
                      "default": [
                        "RS256",
                        "ES256"
                      ]
                    },
                    "principal_claim": {
                      "description": "Claim that names the caller.",
                      "type": "string",
                      "default": "sub"
                    },
                    "claims_prefix": {
                      "description": "Prefix of the claims that matter.",
                      "type": "string",
                      "default": ""
                    }
                  }
                }
              }
            },
            "jwt": {
              "title": "Jwt",
              "description": "Settings of --auth jwt.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "issuer": {
                  "description": "Issuer required.",
                  "type": [
                    "null",
                    "string"
                  ],
                  "default": null
                },
                "audience": {
                  "description": "Audience required.",
                  "type": [
                    "null",
                    "string"
                  ],
                  "default": null
                },
                "jwks_url": {
                  "description": "Where the keys are.",
                  "type": [
                    "null",
                    "string"
                  ],
                  "default": null
                },
                "algorithms": {
                  "description": "Signature algorithms accepted.",
                  "type": "array",
                  "items": {
                    "type": "string"
                  },
                  "default": [
                    "RS256",
                    "ES256"
                  ]
                },
                "principal_claim": {
                  "description": "Claim that names the caller.",
                  "type": "string",
                  "default": "sub"
                },
                "claims_prefix": {
                  "description": "Prefix of the claims that matter.",
                  "type": "string",
                  "default": ""
                }
              }
            },
            "api_key": {
              "title": "ApiKey",
              "description": "Settings of --auth api_key.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "header": {
                  "description": "Header that carries the key.",
                  "type": "string",
                  "default": "Authorization"
                },
                "scheme": {
                  "description": "Word before the key.",
                  "enum": [
                    "Bearer",
                    "ApiKey",
                    "none"
                  ],
                  "default": "Bearer"
                },
                "keys_file": {
                  "description": "JSON file of keys.",
                  "type": [
                    "null",
                    "string"
                  ],
                  "default": null
                }
              }
            }
          }
        },
        "rbac": {
          "title": "Rbac",
          "description": "Which roles may call which tools.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "enabled": {
              "description": "Check roles.",
              "type": "boolean",
              "default": false
            },
            "default_role": {
              "description": "Role of a caller without one.",
              "type": "string",
              "default": "viewer"
            },
            "role_claim": {
              "description": "Claim that lists the caller's roles.",
              "type": "string",
              "default": "roles"
            },
            "roles": {
              "description": "Roles by name.",
              "type": "object",
              "additionalProperties": {
                "title": "Role",
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "allow": {
                    "description": "Tools the role may call; '*' means all.",
                    "type": "array",
                    "items": {
                      "type": "string"
                    },
                    "default": []
                  }
                }
              },
              "default": {}
            },
            "deny_tools": {
              "description": "Tools nobody may call; wins over allow.",
              "type": "array",
              "items": {
                "type": "string"
              },
              "default": []
            }
          }
        },
        "rate_limit": {
          "title": "RateLimit",
          "description": "How much may be called.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "enabled": {
              "description": "Limit calls.",
              "type": "boolean",
              "default": false
            },
            "store": {
              "description": "Where the counters are kept.",
              "enum": [
                "memory",
                "redis"
              ],
              "default": "memory"
            },
            "redis_url": {
              "description": "Address of the redis store.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            },
            "on_store_error": {
              "description": "What happens while the store is down: `closed` refuses calls, `open` lets them pass.",
              "enum": [
                "closed",
                "open"
              ],
              "default": "closed"
            },
            "global": {
              "$ref": "#/definitions/Windows"
            },
            "global_limits": {
              "$ref": "#/definitions/Windows"
            },
            "per_principal": {
              "$ref": "#/definitions/Windows"
            },
            "per_tool": {
              "description": "Rate by tool: N/second, N/minute, N/hour or N/day.",
              "type": "object",
              "additionalProperties": {
                "type": "string"
              },
              "default": {}
            }
          }
        }
      }
    },
    "Windows": {
      "description": "Calls per minute.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "requests_per_minute": {
          "description": "Tool calls.",
          "type": [
            "integer",
            "null"
          ],
          "minimum": 0,
          "default": null
        },
        "embed_requests_per_minute": {
          "description": "Calls that embed a text.",
          "type": [
            "integer",
            "null"
          ],
          "minimum": 0,
          "default": null
        },
        "llm_requests_per_minute": {
          "description": "Calls that expand a query.",
          "type": [
            "integer",
            "null"
          ],
          "minimum": 0,
          "default": null
        }
      }
    },
    "Observability": {
      "title": "Observability",
      "description": "What the server tells about itself.",
      "type": "object",
      "properties": {
        "audit": {
          "title": "Audit",
          "description": "One record for each tool call; never rows or credentials.",
          "type": "object",
          "properties": {
            "enabled": {
              "description": "Write audit records.",
              "type": "boolean",
              "default": false
            },
            "sink": {
              "description": "Where they go.",
              "enum": [
                "stdout",
                "file",
                "http",
                "otlp"
              ],
              "default": "stdout"
            },
            "format": {
              "description": "One JSON object a line.",
              "enum": [
                "jsonl",
                "json"
              ],
              "default": "jsonl"
            },
            "path": {
              "description": "File of sink file, which a path alone stands for; relative to the catalog's folder.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            },
            "url": {
              "description": "Address of sinks http and otlp.",
              "type": [
                "null",
                "string"
              ],
              "default": null
            },
            "include": {
              "title": "AuditInclude",
              "description": "Which facts are recorded.",
              "type": "object",
              "properties": {
                "args": {
                  "description": "Redacted arguments.",
                  "type": "boolean",
                  "default": true
                },
                "result_count": {
                  "description": "Number of rows, and whether they were cut.",
                  "type": "boolean",
                  "default": true
                },
                "latency_ms": {
                  "description": "Duration.",
                  "type": "boolean",
                  "default": true
                },
                "search_mode": {
                  "description": "Search mode.",
                  "type": "boolean",
                  "default": true
                },
                "warnings": {
                  "description": "Warning codes.",
                  "type": "boolean",
                  "default": true
                }
              }
            },
            "exclude_tools": {
              "description": "Tools that are not recorded.",
              "type": "array",
              "items": {
                "type": "string"
              },
              "default": []
            },
            "chain": {
              "description": "Access evidence: records are linked by hashes and say which guard and query ran; `toolsrv audit verify` checks them. Sink file only.",
              "type": "boolean",
              "default": false
            },
            "redact": {
              "title": "AuditRedact",
              "description": "Names whose values are never recorded.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "arg_fields": {
                  "description": "Argument names, any case.",
                  "type": "array",
                  "items": {
                    "type": "string"
                  },
                  "default": [
                    "password",
                    "token",
                    "secret"
                  ]
                },
                "row_fields": {
                  "description": "Kept for older catalogs; rows are never recorded.",
                  "type": "array",
                  "items": {
                    "type": "string"
                  },
                  "default": []
                }
              }
            }
          }
        },
        "tracing": {
          "title": "Tracing",
          "description": "Spans of tool calls.",
          "type": "object",
          "properties": {
            "enabled": {
              "description": "Record spans.",
              "type": "boolean",
              "default": false
            },
            "exporter": {
              "description": "Where they go.",
              "enum": [
                "otlp",
                "console"
              ],
              "default": "otlp"
            },
            "endpoint": {
              "description": "OTLP collector.",
              "type": "string",
              "default": "http://localhost:4318"
            },
            "service_name": {
              "description": "Name of this service in traces.",
              "type": "string",
              "default": "toolsrv"
            },
            "semconv": {
              "description": "Name spans by the OpenTelemetry conventions.",
              "type": "boolean",
              "default": false
            }
          }
        },
        "metrics": {
          "title": "Metrics",
          "description": "Prometheus metrics at GET /metrics.",
          "type": "object",
          "properties": {
            "enabled": {
              "description": "Serve metrics.",
              "type": "boolean",
              "default": false
            },
            "require_auth": {
              "description": "Serve them to authenticated callers only, as POST /mcp is; without, to everybody who reaches the port.",
              "type": "boolean",
              "default": false
            },
            "port": {
              "description": "Kept for older catalogs; metrics share the server's port.",
              "type": "integer",
              "minimum": 1,
              "maximum": 65535,
              "default": 9090
            }
          }
        }
      }
    },
    "EnterpriseProfile": {
      "description": "Its presence turns hardening on.",
      "type": [
        "object",
        "null"
      ],
      "additionalProperties": false,
      "properties": {
        "security": {
          "title": "EnterpriseSecurity",
          "description": "Security part of the profile.",
          "type": [
            "object",
            "null"
          ],
          "additionalProperties": false,
          "properties": {
            "hardening": {
              "title": "Hardening",
              "description": "What is refused.",
              "type": [
                "object",
                "null"
              ],
              "additionalProperties": false,
              "properties": {
                "disable_authoring": {
                  "description": "Never offer authoring tools.",
                  "type": "boolean",
                  "default": true
                },
                "disable_meta_tools": {
                  "description": "Never offer meta tools.",
                  "type": "boolean",
                  "default": true
                },
                "require_tenancy": {
                  "description": "Each tool needs tenancy or a static filter.",
                  "type": "boolean",
                  "default": true
                },
                "max_limit_max": {
                  "description": "Largest limit_max allowed.",
                  "type": "integer",
                  "minimum": 1,
                  "default": 100
                },
                "allowed_backends": {
                  "description": "Backends allowed; absent allows all.",
                  "type": [
                    "array",
                    "null"
                  ],
                  "items": {
                    "type": "string"
                  },
                  "default": null
                }
              }
            }
          }
        }
      }
    }
  }
};
