"""Measurements of speed, memory and extraction: ``python -m benchmarks`` prints them all.

They print and assert nothing: figures depend on the machine, and ratios are taken within one run. Where the real model
outputs of ``../shared/data`` are missing, generated functions are measured alone, and the output says so.
"""
