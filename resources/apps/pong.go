// Hello World with Go's standard library.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func pong(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "Pong!")
}

func hello(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "Hello World\n")
}

func main() {
	listener, err := listen(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", pong)
	http.HandleFunc("/hello", hello)
	if len(os.Args) > 5 {
		log.Fatal(http.ServeTLS(listener, nil, os.Args[4], os.Args[5]))
	}
	log.Fatal(http.Serve(listener, nil))
}
