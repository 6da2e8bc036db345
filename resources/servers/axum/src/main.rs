//! A JSON document, and agents from PostgreSQL: axum, with a pool of connections.
use axum::{extract::State, routing::get, Json, Router};
use deadpool_postgres::{Config, Pool, PoolConfig, Runtime};
use serde::Serialize;
use std::net::SocketAddr;
use tokio::net::TcpSocket;
use tokio_postgres::NoTls;

const QUERY: &str = "select id, name, login, status from agents order by id";

#[derive(Serialize)]
struct Hello {
    hello: &'static str,
}

#[derive(Serialize)]
struct Agent {
    id: i32,
    name: String,
    login: String,
    status: String,
}

async fn index() -> Json<Hello> {
    Json(Hello { hello: "world" })
}

async fn agents(State(pool): State<Pool>) -> Json<Vec<Agent>> {
    let client = pool.get().await.expect("a connection");
    let query = client.prepare_cached(QUERY).await.expect("a statement");
    let rows = client.query(&query, &[]).await.expect("rows");
    Json(
        rows.iter()
            .map(|row| Agent {
                id: row.get(0),
                name: row.get(1),
                login: row.get(2),
                status: row.get(3),
            })
            .collect(),
    )
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().collect();
    let config = Config {
        host: Some("/proc/self/cwd/data".into()),
        user: Some("pong".into()),
        dbname: Some("pong".into()),
        pool: Some(PoolConfig::new(160)),
        ..Config::default()
    };
    let pool = config.create_pool(Some(Runtime::Tokio1), NoTls)?;
    let app = Router::new()
        .route("/", get(|| async { "Pong!" }))
        .route("/index", get(index))
        .route("/agents", get(agents))
        .with_state(pool);
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(format!("{}:{}", given[1], given[2]).parse::<SocketAddr>()?)?;
    axum::serve(socket.listen(given[3].parse()?)?, app).await?;
    Ok(())
}
