// Hello World with Go's standard library.
package main

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"os"
)

func pong(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "Pong!")
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
