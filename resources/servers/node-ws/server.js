// Echo over WebSocket with ws: callbacks on Node's loop.

const { WebSocketServer } = require("ws");

const [host, port, backlog] = process.argv.slice(2);
const server = new WebSocketServer({ host, port: Number(port), backlog: Number(backlog) });
server.on("connection", (socket) => {
  socket.on("error", () => {}); // the client has gone
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
});
