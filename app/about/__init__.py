"""What the program is, and whose work it contains."""
