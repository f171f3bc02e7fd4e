"""Bayesian models of adequate/inadequate ratings and of metrics that make mistakes."""
