"""Points whose truth is known, because it was made: a throttled server, a lossy link, and so on."""
