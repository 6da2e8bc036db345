// Hello World with Scalatra in an embedded Jetty.

import org.eclipse.jetty.server.{Server, ServerConnector}
import org.eclipse.jetty.servlet.{ServletContextHandler, ServletHolder}
import org.scalatra.ScalatraServlet

class PongServlet extends ScalatraServlet {
  get("/") {
    contentType = "text/plain"
    "Pong!"
  }
  get("/hello") {
    contentType = "text/plain"
    "Hello World\n"
  }
}

object Pong {
  def main(args: Array[String]): Unit = {
    val Array(host, port, backlog) = args
    val server = new Server()
    val connector = new ServerConnector(server)
    connector.setHost(host)
    connector.setPort(port.toInt)
    connector.setAcceptQueueSize(backlog.toInt)
    server.addConnector(connector)
    val handler = new ServletContextHandler()
    handler.addServlet(new ServletHolder(new PongServlet), "/*")
    server.setHandler(handler)
    server.start()
    server.join()
  }
}
