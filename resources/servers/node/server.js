// Hello World with Node's own HTTP server.

const http = require("node:http");

const [host, port, backlog] = process.argv.slice(2);
const server = http.createServer((request, response) => {
  response.writeHead(200, { "Content-Type": "text/plain", "Content-Length": 5 });
  response.end("Pong!");
});
server.keepAliveTimeout = 60_000;
server.listen({ host, port: Number(port), backlog: Number(backlog) });
