# SPDX-License-Identifier: MIT
"""JAX with and without its own preallocation (by the environment); keeps every tenth array."""
import jax
import jax.numpy as jnp

kept = []
step = jax.jit(lambda x: jnp.tanh(x @ x))
for i in range(100):
    y = step(jnp.ones((512, 512)) * i)
    if i % 10 == 0:
        kept.append(y)
jax.block_until_ready(kept)
