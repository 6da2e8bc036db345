"""What sessions say: rows, columns, the answer, comparisons. `render` only writes them."""
