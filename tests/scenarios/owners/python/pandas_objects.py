# SPDX-License-Identifier: MIT
# OWNER frame._mgr.blocks[*].values[*]|frame._mgr.blocks[1].values[*] in module __main__: 4 x 64 KiB
# OWNER series._mgr.blocks[0].values[*] in module __main__: 2 x 128 KiB
# OWNER index._data[*]|index._data.base[*] in module __main__: 2 x 192 KiB
# NEEDS pandas
"""Objects in a table of pandas, in a series, and in an index."""

import pandas

from simgpu import KIB, Buffer

frame = pandas.DataFrame({"number": range(4), "buffer": [Buffer(64 * KIB) for _ in range(4)]})
series = pandas.Series([Buffer(128 * KIB) for _ in range(2)])
index = pandas.Index([Buffer(192 * KIB) for _ in range(2)])
