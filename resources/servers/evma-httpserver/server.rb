# Hello World with evma_httpserver: a handler of EventMachine that is given whole requests.
require "eventmachine"
require "evma_httpserver"

class Pong < EventMachine::Connection
  include EventMachine::HttpServer

  def process_http_request
    response = EventMachine::DelegatedHttpResponse.new(self)
    response.status = 200
    response.content_type "text/plain"
    response.content = "Pong!"
    response.send_response
  end
end

host, port, = ARGV
EventMachine.epoll
EventMachine.run { EventMachine.start_server(host, port.to_i, Pong) }
