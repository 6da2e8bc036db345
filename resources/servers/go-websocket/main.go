// Echo over WebSocket with coder/websocket on net/http: a goroutine for each connection.
package main

import (
	"context"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"

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

// listen is net.Listen with a backlog, which that takes from the system.
func listen(host, port, backlog string) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	queue, err := strconv.Atoi(backlog)
	if err != nil {
		return nil, err
	}
	connection, err := listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		return nil, err
	}
	var refused error
	err = connection.Control(func(descriptor uintptr) {
		refused = syscall.Listen(int(descriptor), queue)
	})
	if err != nil {
		return nil, err
	}
	return listener, refused
}

func main() {
	listener, err := listen(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(listener, http.HandlerFunc(echo)))
}
