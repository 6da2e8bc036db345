"""Fakes at the seams of a run, chosen as the real ones are: a load tool by its name, machines by
how a fleet opens them. What they do is scripted, takes no time, and offers no load."""
