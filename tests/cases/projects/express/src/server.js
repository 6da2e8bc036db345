const express = require("express");
const app = express();
app.get("/", (request, response) => response.send("Pong!"));
app.listen(process.env.PORT || 3000, process.env.HOST);
