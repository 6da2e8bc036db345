# Hello World on EventMachine, which brings no HTTP of its own.
require "eventmachine"
require "socket"

module Pong
  REPLY = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: "
  CLOSES = /\A[^\r]* HTTP\/1\.0\r|^Connection:\s*close/i

  def post_init
    @data = String.new
  end

  def receive_data(data)
    @data << data
    while (request = @data.slice!(/\A.*?\r\n\r\n/m))
      body = request.start_with?("GET /hello ") ? "Hello World\n" : "Pong!"
      if request.match?(CLOSES)
        send_data "#{REPLY}#{body.size}\r\nConnection: close\r\n\r\n#{body}"
        return close_connection_after_writing
      end
      send_data "#{REPLY}#{body.size}\r\n\r\n#{body}"
    end
  end
end

host, port, backlog = ARGV
listener = Socket.new(:INET, :STREAM)
listener.setsockopt(:SOCKET, :REUSEADDR, true)
listener.bind(Addrinfo.tcp(host, port.to_i))
listener.listen(backlog.to_i)
EventMachine.epoll
EventMachine.run { EventMachine.attach_server(listener, Pong) }
