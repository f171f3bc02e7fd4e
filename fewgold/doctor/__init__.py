"""Find out what a file is, what it can be used for, what is wrong with it, and what to run next.

>>> from fewgold.doctor import examine
>>> examine("no-such-file.csv").exit_code
3
"""

from __future__ import annotations

from fewgold.doctor.diagnosis import examine
from fewgold.doctor.findings import Diagnosis

__all__ = ["Diagnosis", "examine"]
