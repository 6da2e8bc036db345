"""Sessions side by side: who is in them, what tells them apart, and what differs."""
