// Hello World with Go's standard library.
package main

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
)

func pong(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "Pong!")
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
	http.HandleFunc("/", pong)
	if len(os.Args) > 5 {
		// Without TLSNextProto it would also offer HTTP/2.
		server := &http.Server{TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}}
		log.Fatal(server.ServeTLS(listener, os.Args[4], os.Args[5]))
	}
	log.Fatal(http.Serve(listener, nil))
}
