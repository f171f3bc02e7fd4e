"""How far the estimate may be from the pool mean. One bound, one file."""

from fewgold.bounds._bernstein import Bernstein
from fewgold.bounds._hoeffding import Hoeffding
from fewgold.bounds._student import Student
from fewgold.estimate import Bound

__all__ = ["Bernstein", "Bound", "Hoeffding", "Student"]
