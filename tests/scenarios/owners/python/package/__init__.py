# SPDX-License-Identifier: MIT
"""Run by `python -m package`."""
