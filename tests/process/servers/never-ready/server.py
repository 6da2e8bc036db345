import time

print("waiting for a database that is not there")
while True:
    time.sleep(1)
