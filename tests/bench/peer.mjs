// A server of the official TypeScript SDK with one trivial tool, as its documentation shows it:
// stateless, JSON answers. Says its address on standard output.
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { join } from "node:path";

const require = createRequire(join(process.env.ASSAY_NODE_MODULES, "here.js"));
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = require(
  "@modelcontextprotocol/sdk/server/streamableHttp.js",
);
const { z } = require("zod");

function server() {
  const made = new McpServer({ name: "peer", version: "1" });
  made.registerTool(
    "add",
    {
      description: "Adds two numbers.",
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
    },
    async ({ a, b }) => {
      const structuredContent = { sum: a + b };
      return {
        content: [{ type: "text", text: JSON.stringify(structuredContent) }],
        structuredContent,
      };
    },
  );
  return made;
}

const http = createServer(async (request, response) => {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  const mcp = server();
  response.on("close", () => {
    transport.close();
    mcp.close();
  });
  await mcp.connect(transport);
  await transport.handleRequest(request, response);
});

http.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${http.address().port}`);
});
