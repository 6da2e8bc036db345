"""How licence texts are shown."""

from __future__ import annotations

from app.about.licences import components, flowing

TEXT = """\
                   A PUBLIC LICENSE OF MANY WORDS
                       Version 3, 29 June 2007

  Permission is hereby granted, free of charge, to any person obtain-
ing a copy of this software, to deal in it without restriction.
Copyright (c) 2006-2016 Somebody With A Long Name Of The Project
Copyright (c) 2017-2020 Somebody Else

  1. Redistributions of source code must retain the above
     copyright notice, this list of conditions and the following
     disclaimer.
  2. Redistributions in binary form are permitted as well.
----------------------------------------------------------------
    Release         Derived     Year        Owner       GPL-compatible
    1.6             1.5.2       2000        CNRI        no
"""
FLOWING = """\
                   A PUBLIC LICENSE OF MANY WORDS
                       Version 3, 29 June 2007

  Permission is hereby granted, free of charge, to any person obtain-ing a copy of this \
software, to deal in it without restriction.
Copyright (c) 2006-2016 Somebody With A Long Name Of The Project
Copyright (c) 2017-2020 Somebody Else

  1. Redistributions of source code must retain the above copyright notice, this list of \
conditions and the following disclaimer.
  2. Redistributions in binary form are permitted as well.
----------------------------------------------------------------
    Release         Derived     Year        Owner       GPL-compatible
    1.6             1.5.2       2000        CNRI        no"""


def test_paragraphs_flow_and_titles_items_and_tables_keep_their_lines() -> None:
    assert flowing(TEXT) == FLOWING


def test_no_word_of_any_licence_is_lost() -> None:
    for part in components():
        shown = flowing(part.text)
        assert "".join(shown.split()) == "".join(part.text.split())
