// Hello World with Play, embedded: a router with one route.

import static play.mvc.Results.ok;

import play.Mode;
import play.routing.RoutingDsl;
import play.server.Server;

public class Pong {
  public static void main(String[] args) throws InterruptedException {
    Server server =
        Server.forRouter(
            Mode.PROD,
            Integer.parseInt(args[0]),
            components ->
                RoutingDsl.fromComponents(components)
                    .GET("/")
                    .routingTo(request -> ok("Pong!"))
                    .GET("/hello")
                    .routingTo(request -> ok("Hello World\n"))
                    .build());
    Runtime.getRuntime().addShutdownHook(new Thread(server::stop));
    Thread.currentThread().join();
  }
}
