"""Assess a metric or LLM judge against people, from a rated sample and its design.

Values are for the whole pool and intervals follow the design: any sampler, any measure.
"""

from fewgold.judge.recalibration import Recalibration
from fewgold.judge.result import Assessment, assess, assess_table
from fewgold.judge.trial import Trial, figures

__all__ = ["Assessment", "Recalibration", "Trial", "assess", "assess_table", "figures"]
