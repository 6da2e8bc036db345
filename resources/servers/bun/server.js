// Hello World with Bun's own HTTP server.

const [hostname, port, certificate, key] = Bun.argv.slice(2);
Bun.serve({
  hostname,
  port: Number(port),
  development: false,
  idleTimeout: 60, // seconds
  tls: certificate && { cert: Bun.file(certificate), key: Bun.file(key) },
  routes: {
    "/": () => new Response("Pong!"),
    "/hello": () => new Response("Hello World\n"),
  },
});
