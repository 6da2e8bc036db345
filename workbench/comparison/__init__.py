"""Sessions side by side: their servers, how they differ, and under which conditions."""
