"""What the program reports, as codes with typed parameters; the one place that renders sentences.

`base` says what a message is, `errors` names what becomes of calls, `reasons` are those of a
verdict, `notes` stand in a session beside its points (`topics` is their registry), `plans` are a
plan's problems and warnings, `ends` say why a run ended.
"""
