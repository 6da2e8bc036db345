import os

print("begins")
os._exit(3)
