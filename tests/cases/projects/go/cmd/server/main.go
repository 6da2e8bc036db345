package main

import (
	"flag"
	"io"
	"net/http"
)

func main() {
	addr := flag.String("addr", ":8080", "where to listen")
	flag.Parse()
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "Pong!") })
	panic(http.ListenAndServe(*addr, nil))
}
