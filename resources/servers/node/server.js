// Hello World with Node's own HTTP server.

const fs = require("node:fs");
const http = require("node:http");
const http2 = require("node:http2");

const [host, port, backlog, certificate, key] = process.argv.slice(2);
function pong(request, response) {
  const body = request.url === "/hello" ? "Hello World\n" : "Pong!";
  response.writeHead(200, { "Content-Type": "text/plain", "Content-Length": body.length });
  response.end(body);
}
const server = certificate
  ? http2.createSecureServer(
      { allowHTTP1: true, cert: fs.readFileSync(certificate), key: fs.readFileSync(key) },
      pong,
    )
  : http.createServer(pong);
server.keepAliveTimeout = 60_000;
server.listen({ host, port: Number(port), backlog: Number(backlog) });
