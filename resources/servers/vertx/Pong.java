// A JSON document, and agents from PostgreSQL: Vert.x, with a pool of connections.

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;

public class Pong extends VerticleBase {
  private static final String QUERY = "select id, name, login, status from agents order by id";

  private final Pool pool;
  private final String[] given;

  private Pong(Pool pool, String[] given) {
    this.pool = pool;
    this.given = given;
  }

  @Override
  public Future<?> start() {
    Router router = Router.router(vertx);
    router.get("/").handler(call -> call.response().end("Pong!"));
    router.get("/index").handler(call -> call.json(new JsonObject().put("hello", "world")));
    router.get("/agents").handler(this::agents);
    return vertx
        .createHttpServer(new HttpServerOptions().setAcceptBacklog(Integer.parseInt(given[2])))
        .requestHandler(router)
        .listen(Integer.parseInt(given[1]), given[0]);
  }

  private void agents(RoutingContext call) {
    pool.preparedQuery(QUERY)
        .execute()
        .onFailure(call::fail)
        .onSuccess(
            rows -> {
              JsonArray found = new JsonArray();
              rows.forEach(row -> found.add(row.toJson()));
              call.json(found);
            });
  }

  public static void main(String[] given) {
    Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
    Pool pool =
        PgBuilder.pool()
            .with(new PoolOptions().setMaxSize(160))
            .connectingTo(
                new PgConnectOptions()
                    .setHost("/proc/self/cwd/data")
                    .setUser("pong")
                    .setDatabase("pong")
                    .setCachePreparedStatements(true))
            .using(vertx)
            .build();
    int cores = Runtime.getRuntime().availableProcessors();
    vertx
        .deployVerticle(() -> new Pong(pool, given), new DeploymentOptions().setInstances(cores))
        .onFailure(
            error -> {
              error.printStackTrace();
              System.exit(1);
            });
  }
}
