"""A session shown to an audience, on their own phones and laptops."""
