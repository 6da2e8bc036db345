"""The only entrance for YAML edited by users."""
