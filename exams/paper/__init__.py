"""The paper: from authored questions to what students see and what the grader needs. Pure: no database, no clock.

`find_problems` says why a question cannot be graded right; `freeze` makes the paper and the key. The admin, the importer
and the preview all go through these two.
"""

from exams.paper.drafts import OptionDraft, QuestionDraft
from exams.paper.freeze import Frozen, freeze
from exams.paper.problems import Problem, find_problems, find_warnings
from exams.paper.text import render_inline, render_text

__all__ = [
    "Frozen",
    "OptionDraft",
    "Problem",
    "QuestionDraft",
    "find_problems",
    "find_warnings",
    "freeze",
    "render_inline",
    "render_text",
]
