import sys

print("reading pong.conf")
sys.exit("pong.conf: no such file")
