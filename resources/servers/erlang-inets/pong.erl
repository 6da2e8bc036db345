%% Hello World with inets' httpd: a module of its chain that answers everything.
-module(pong).
-include_lib("inets/include/httpd.hrl").
-export([start/1, do/1]).

start([Host, Port]) ->
    {ok, Address} = inet:parse_address(Host),
    {ok, Here} = file:get_cwd(),
    ok = inets:start(),
    {ok, _} = inets:start(httpd, [
        {bind_address, Address},
        {port, list_to_integer(Port)},
        {server_name, "pong"},
        {server_root, Here},
        {document_root, Here},
        {max_clients, 20000},
        {keep_alive_timeout, 60},
        {modules, [?MODULE]}
    ]),
    receive
        stop -> ok
    end.

do(#mod{}) ->
    Head = [{code, 200}, {content_type, "text/plain"}, {content_length, "5"}],
    {proceed, [{response, {response, Head, <<"Pong!">>}}]}.
