# SPDX-License-Identifier: MIT
"""The package's state."""

cache = {}
