import sys

import ping_pong

ping_pong.serve(int(sys.argv[1]))
