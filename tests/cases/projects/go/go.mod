module example.org/pong

go 1.19
