// Echo over WebSocket with coder/websocket on net/http: a goroutine for each connection.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/coder/websocket"
)

func echo(w http.ResponseWriter, r *http.Request) {
	connection, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer connection.CloseNow()
	connection.SetReadLimit(1 << 20)
	for {
		kind, message, err := connection.Read(context.Background())
		if err != nil {
			return
		}
		if connection.Write(context.Background(), kind, message) != nil {
			return
		}
	}
}

func main() {
	listener, err := listen(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(listener, http.HandlerFunc(echo)))
}
