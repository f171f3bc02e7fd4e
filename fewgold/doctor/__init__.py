"""What a file is, what can be done with it, what is wrong with it, and which command comes next.

>>> from fewgold.doctor import examine
>>> examine("no-such-file.csv").exit_code
3
"""

from __future__ import annotations

from fewgold.doctor.diagnosis import examine
from fewgold.doctor.findings import Diagnosis

__all__ = ["Diagnosis", "examine"]
