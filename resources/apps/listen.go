package main

import (
	"net"
	"strconv"
	"syscall"
)

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
