"""The charts: a model fed with documents, and the linked trio that draws it."""
