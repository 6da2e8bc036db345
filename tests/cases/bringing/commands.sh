curl 'ORIGIN/api/login?next=%2F' \
  -X 'POST' \
  -H 'accept: application/json, text/plain, */*' \
  -H 'accept-language: en-US,en;q=0.9' \
  -H 'content-type: application/json' \
  -b 'session=abc123; theme=dark' \
  -H 'origin: ORIGIN' \
  -H 'sec-ch-ua: "Chromium";v="130", "Not?A_Brand";v="99"' \
  --data-raw $'{"name":"O\'Brien\u0021","password":"p\\"w","note":"line\\n"}' \
  --compressed ;
curl -sS -G ORIGIN/search --data-urlencode "q=café \"x\" & y" -d page=2 -o /dev/null
curl -d @FILE -d b=2 -H 'Content-Type: text/plain' ORIGIN/file
curl --data-binary @FILE ORIGIN/file
curl -u me:pw -XPUT -H"X-Empty;" -H 'Accept:' --json '{"a":1}' ORIGIN/json
curl -I ORIGIN/head
curl -A me/1 -e http://ref/ -r 0-9 --oauth2-bearer tok ORIGIN/
curl ORIGIN/a --next -X DELETE ORIGIN/items/3
curl --url-query 'a=x y' "ORIGIN/quoted?p=\$5" -H "X-Q: \"a\\b\"" -b a=1 -b 'b=2; c=3'
