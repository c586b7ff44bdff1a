"""tf.contrib.bayesflow.hmc, metropolis_hastings and halton_sequence: samples of a density that is known up to a factor."""
import collections

import numpy as np

import weft as tf


def leapfrog_step(step_size, position, momentum, potential_and_grad, grad, name=None):
    """One step of Hamiltonian dynamics: half a step of the momentum, a step of the position, half a step of the momentum.

    Gives the new position, momentum, potential and gradient.

    Args:
      step_size: the step.
      position: the position.
      momentum: the momentum.
      potential_and_grad: a function of a position that gives the potential and its gradient.
      grad: the gradient at the position.
      name: the name scope.
    """
    with tf.name_scope(name, "leapfrog_step"):
        momentum = momentum - 0.5 * step_size * grad
        position = position + step_size * momentum
        potential, grad = potential_and_grad(position)
        return position, momentum - 0.5 * step_size * grad, potential, grad


def leapfrog_integrator(step_size, n_steps, initial_position, initial_momentum, potential_and_grad, initial_grad, name=None):
    """Steps of Hamiltonian dynamics; gives the last position, momentum, potential and gradient.

    Args:
      step_size: the step.
      n_steps: how many steps.
      initial_position, initial_momentum: where they begin.
      potential_and_grad: a function of a position that gives the potential and its gradient.
      initial_grad: the gradient at the first position.
      name: the name scope.
    """
    with tf.name_scope(name, "leapfrog_integrator"):
        def body(i, position, momentum, _, grad):
            return (i + 1, *leapfrog_step(step_size, position, momentum, potential_and_grad, grad))
        potential, _ = potential_and_grad(initial_position)
        start = [tf.constant(0), tf.convert_to_tensor(initial_position), tf.convert_to_tensor(initial_momentum), potential, initial_grad]
        return tuple(tf.while_loop(lambda i, *_: i < n_steps, body, start, back_prop=False)[1:])


def _value_and_grad(function):
    def both(x):
        value = function(x)
        return value, tf.gradients(value, x)[0]
    return both


def _over(mask, like):
    """Returns a mask per chain as one that fits the state."""
    extra = like.shape.ndims - mask.shape.ndims
    return tf.reshape(mask, tf.concat([tf.shape(mask), tf.ones([extra], tf.int32)], 0)) & tf.ones_like(like, tf.bool)


def kernel(step_size, n_leapfrog_steps, x, target_log_prob_fn, event_dims=(), x_log_prob=None, x_grad=None, name=None, seed=None):
    """One iteration of Hamiltonian Monte Carlo; gives the new state, the acceptance probabilities, its log density and gradient.

    Args:
      step_size: the step of the dynamics.
      n_leapfrog_steps: how many steps make a proposal.
      x: the state.
      target_log_prob_fn: the logarithm of the density, a function of the state.
      event_dims: the dimensions of the state that are not independent chains; the density is summed over the others only.
      x_log_prob: the log density of x, if it is known.
      x_grad: its gradient, if it is known.
      name: the name scope.
      seed: the seed of the momenta and of the acceptance.
    """
    with tf.name_scope(name, "hmc_kernel"):
        x = tf.convert_to_tensor(x)

        def potential_and_grad(at):
            value, grad = _value_and_grad(target_log_prob_fn)(at)
            return -value, -grad
        if x_log_prob is None or x_grad is None:
            potential, grad = potential_and_grad(x)
        else:
            potential, grad = -x_log_prob, -x_grad
        axes = list(np.reshape(event_dims, [-1]).astype(int))
        momentum = tf.random_normal(tf.shape(x), dtype=x.dtype, seed=seed)
        new, last, new_potential, new_grad = leapfrog_integrator(step_size, n_leapfrog_steps, x, momentum, potential_and_grad, grad)

        def kinetic(m):
            return 0.5 * (tf.reduce_sum(tf.square(m), axes) if axes else tf.square(m))
        ratio = potential - new_potential + kinetic(momentum) - kinetic(last)
        ratio = tf.where(tf.is_finite(ratio), ratio, tf.fill(tf.shape(ratio), tf.constant(-np.inf, ratio.dtype)))
        ratio.set_shape(potential.shape)
        accept = tf.log(tf.random_uniform(tf.shape(ratio), dtype=ratio.dtype, seed=None if seed is None else seed + 1)) < ratio
        state = tf.where(_over(accept, x), new, x)
        state.set_shape(x.shape)
        log_prob = -tf.where(accept, new_potential, potential)
        grad = -tf.where(_over(accept, x), new_grad, grad)
        return state, tf.exp(tf.minimum(ratio, 0)), log_prob, grad


def chain(n_iterations, step_size, n_leapfrog_steps, initial_x, target_log_prob_fn, event_dims=(), name=None, seed=None):
    """Iterations of Hamiltonian Monte Carlo; gives the acceptance probabilities and the states of all iterations.

    Args:
      n_iterations: how many iterations.
      step_size: the step of the dynamics.
      n_leapfrog_steps: how many steps make a proposal.
      initial_x: the first state; it may hold several chains.
      target_log_prob_fn: the logarithm of the density, a function of the state.
      event_dims: the dimensions of the state that are not independent chains.
      name: the name scope.
      seed: the seed of the momenta and of the acceptance.
    """
    with tf.name_scope(name, "hmc_chain"):
        x = tf.convert_to_tensor(initial_x)
        log_prob, grad = _value_and_grad(target_log_prob_fn)(x)

        def body(before, _):
            return kernel(step_size, n_leapfrog_steps, before[0], target_log_prob_fn, event_dims, before[2], before[3], seed=seed)
        start = (x, tf.zeros_like(log_prob), log_prob, grad)
        states, accepted, _, _ = tf.scan(body, tf.range(n_iterations), start, back_prop=False, parallel_iterations=1)
        return accepted, states


KernelResults = collections.namedtuple("KernelResults", [
    "acceptance_probs", "current_target_log_prob", "current_grads_target_log_prob"])


def sample_chain(num_results, target_log_prob_fn, current_state, step_size, num_leapfrog_steps, num_burnin_steps=0,
                 num_steps_between_results=0, seed=None, name=None):
    """States of Hamiltonian Monte Carlo as TensorFlow 1.5 makes them: the states, and KernelResults.

    Args:
      num_results: how many states.
      target_log_prob_fn: the logarithm of the density, a function of the state; one number for each chain.
      current_state: the first state. The dimensions that the density does not have belong to one chain.
      step_size: the step of the dynamics.
      num_leapfrog_steps: how many steps make a proposal.
      num_burnin_steps: how many iterations come before the first result.
      num_steps_between_results: how many iterations are dropped after each result.
      seed: the seed of the momenta and of the acceptance.
      name: the name scope.
    """
    if isinstance(current_state, (list, tuple)):
        raise NotImplementedError("hmc.sample_chain(current_state=[...]): a list of states is not in Weft: put them into one tensor")
    with tf.name_scope(name, "hmc_sample_chain"):
        x = tf.convert_to_tensor(current_state)
        log_prob, grad = _value_and_grad(target_log_prob_fn)(x)
        dims = tuple(range(log_prob.shape.ndims, x.shape.ndims))

        def iterate(state, n):
            def body(i, x, accepted, log_prob, grad):
                return (i + 1, *kernel(step_size, num_leapfrog_steps, x, target_log_prob_fn, dims, log_prob, grad, seed=seed))
            return tf.while_loop(lambda i, *_: i < n, body, (tf.constant(0), *state), back_prop=False)[1:]
        state = (x, tf.zeros_like(log_prob), log_prob, grad)
        def step(before, i):
            return tuple(iterate(before, tf.where(tf.equal(i, 0), 1 + num_burnin_steps, 1 + num_steps_between_results)))
        found = tf.scan(step, tf.range(num_results), state, back_prop=False, parallel_iterations=1)
        return found[0], KernelResults(found[1], found[2], found[3])


# ---- metropolis_hastings ----

def uniform_random_proposal(step_size=1.0, seed=None, name=None):
    """Returns a proposal that adds a uniform random number from -step_size to step_size: a function that gives it and no log ratio.

    Args:
      step_size: the most that it adds.
      seed: the seed.
      name: the name scope.
    """
    def proposal_fn(input_state):
        with tf.name_scope(name, "uniform_random_proposal"):
            moved = input_state + tf.random_uniform(tf.shape(input_state), -step_size, step_size, dtype=input_state.dtype.base_dtype,
                                                    seed=seed)
            return moved, None
    return proposal_fn


def normal_random_proposal(scale=1.0, seed=None, name=None):
    """Returns a proposal that adds a normal random number: a function that gives it and no log ratio.

    Args:
      scale: the standard deviation.
      seed: the seed.
      name: the name scope.
    """
    def proposal_fn(input_state):
        with tf.name_scope(name, "normal_random_proposal"):
            return input_state + tf.random_normal(tf.shape(input_state), stddev=scale, dtype=input_state.dtype.base_dtype, seed=seed), None
    return proposal_fn


def evolve(initial_sample, initial_log_density, initial_log_accept_ratio, target_log_prob_fn, proposal_fn, n_steps=1, seed=None,
           name=None):
    """Returns the op that makes steps of the Metropolis-Hastings algorithm on variables.

    Args:
      initial_sample: the variable with the state of all chains; the op sets it.
      initial_log_density: the variable with the log density of each chain; the op sets it.
      initial_log_accept_ratio: the variable with the log of the last acceptance ratios; the op sets it.
      target_log_prob_fn: the logarithm of the density, a function of the state.
      proposal_fn: a function of the state that gives another one, and the log of the ratio of the densities of going back and
        forth, or None if they are equal.
      n_steps: how many steps.
      seed: the seed of the acceptance.
      name: the name scope.
    """
    with tf.name_scope(name, "metropolis_hastings"):
        def body(i, x, log_density, _):
            new, back = proposal_fn(x)
            new.set_shape(x.shape)
            density = target_log_prob_fn(new)
            ratio = density - log_density + (0 if back is None else back)
            accept = tf.log(tf.random_uniform(tf.shape(ratio), dtype=ratio.dtype, seed=seed)) < ratio
            state = tf.where(_over(accept, x), new, x)
            state.set_shape(x.shape)
            return i + 1, state, tf.where(accept, density, log_density), ratio
        start = (tf.constant(0), tf.identity(initial_sample), tf.identity(initial_log_density), tf.identity(initial_log_accept_ratio))
        _, x, density, ratio = tf.while_loop(lambda i, *_: i < n_steps, body, start, back_prop=False)
        return tf.group(tf.assign(initial_sample, x), tf.assign(initial_log_density, density),
                        tf.assign(initial_log_accept_ratio, ratio))


# ---- halton_sequence ----

def _primes(count):
    found, n = [], 2
    while len(found) < count:
        if all(n % p for p in found):
            found.append(n)
        n += 1
    return found


def sample(dim, num_samples=None, sample_indices=None, dtype=None, name=None):
    """Points of the Halton sequence, which fill the unit cube evenly: coordinate j is the index mirrored in the base of prime j.

    Args:
      dim: the dimension of the points.
      num_samples: how many points, from the first one on; or
      sample_indices: the indices of the points, from 0.
      dtype: the type of the points, tf.float32 if not given.
      name: the name scope.
    """
    if not 1 <= dim <= 1000:
        raise ValueError("Dimension must be between 1 and 1000. Supplied %s" % dim)
    if (num_samples is None) == (sample_indices is None):
        raise ValueError("Either `num_samples` or `sample_indices` must be specified.")
    dtype = tf.as_dtype(dtype or tf.float32)
    if not dtype.is_floating:
        raise ValueError("dtype must be of `float`-type")
    with tf.name_scope(name, "sample"):
        indices = tf.range(num_samples) if sample_indices is None else tf.convert_to_tensor(sample_indices)
        rest = tf.tile(tf.cast(indices, tf.float64)[:, None] + 1, [1, dim])
        bases = tf.constant(_primes(dim), tf.float64)[None]

        def body(rest, factor, found):
            digit = tf.floormod(rest, bases)
            return tf.floordiv(rest, bases), factor / bases, found + digit * factor
        start = (rest, tf.ones_like(rest) / bases, tf.zeros_like(rest))
        return tf.cast(tf.while_loop(lambda rest, *_: tf.reduce_any(rest > 0), body, start, back_prop=False)[2], dtype)
