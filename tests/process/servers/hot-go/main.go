package main

import (
	"net"
	"os"
)

//go:noinline
func burn() (x int) {
	for n := 0; n < 3000000; n++ {
		x += n * n % 7
	}
	return x
}

func main() {
	listener, _ := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	for {
		connection, _ := listener.Accept()
		if burn() != 0 {
			connection.Write([]byte("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!"))
		}
		connection.Close()
	}
}
