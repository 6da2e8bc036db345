%% Ping-pong with gen_tcp: a process a connection.
-module(pong).
-export([start/1]).

-define(PONG, <<"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n">>).

start([Host, Port, Backlog]) ->
    {ok, Address} = inet:parse_address(Host),
    {ok, Listener} = gen_tcp:listen(list_to_integer(Port), [
        binary,
        {active, false},
        {reuseaddr, true},
        {ip, Address},
        {backlog, list_to_integer(Backlog)}
    ]),
    accept(Listener).

accept(Listener) ->
    case gen_tcp:accept(Listener) of
        {ok, Socket} ->
            Pong = spawn(fun() -> pong(Socket) end),
            gen_tcp:controlling_process(Socket, Pong),
            Pong ! yours;
        {error, _} ->
            ok
    end,
    accept(Listener).

pong(Socket) ->
    receive
        yours -> ok
    end,
    gen_tcp:send(Socket, ?PONG),
    gen_tcp:close(Socket).
