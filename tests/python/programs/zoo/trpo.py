"""TRPO of 2016: flat parameters, Fisher products by double gradients, conjugate gradients, py_func, distributions, hessians."""
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import clip_ops
tf.set_random_seed(0)
rng = np.random.RandomState(0)
OBS, ACT = 4, 2
dtype = tf.float32


def var_shape(x):
    out = [k.value for k in x.get_shape()]
    assert all(isinstance(a, int) for a in out), "shape function assumes that shape is fully known"
    return out


def numel(x):
    return int(np.prod(var_shape(x)))


def flatgrad(loss, var_list):
    grads = tf.gradients(loss, var_list)
    return tf.concat([tf.reshape(grad, [numel(v)]) for v, grad in zip(var_list, grads)], 0)


class SetFromFlat(object):
    def __init__(self, session, var_list):
        self.session = session
        shapes = list(map(var_shape, var_list))
        total = sum(np.prod(s) for s in shapes)
        self.theta = theta = tf.placeholder(dtype, [int(total)])
        start, assigns = 0, []
        for shape, v in zip(shapes, var_list):
            size = int(np.prod(shape))
            assigns.append(tf.assign(v, tf.reshape(theta[start:start + size], shape)))
            start += size
        self.op = tf.group(*assigns)

    def __call__(self, theta):
        self.session.run(self.op, feed_dict={self.theta: theta})


class GetFlat(object):
    def __init__(self, session, var_list):
        self.session, self.op = session, tf.concat([tf.reshape(v, [numel(v)]) for v in var_list], 0)

    def __call__(self):
        return self.op.eval(session=self.session)


def conjugate_gradient(f_Ax, b, cg_iters=10, residual_tol=1e-10):
    p, r, x = b.copy(), b.copy(), np.zeros_like(b)
    rdotr = r.dot(r)
    for i in range(cg_iters):
        z = f_Ax(p)
        v = rdotr / p.dot(z)
        x += v * p
        r -= v * z
        newrdotr = r.dot(r)
        p = r + (newrdotr / rdotr) * p
        rdotr = newrdotr
        if rdotr < residual_tol:
            break
    return x


config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
config.gpu_options.allow_growth = True
session = tf.InteractiveSession(config=config)
obs = tf.placeholder(dtype, shape=[None, OBS], name="obs")
action = tf.placeholder(tf.int64, shape=[None], name="action")
advant = tf.placeholder(dtype, shape=[None], name="advant")
oldaction_dist = tf.placeholder(dtype, shape=[None, ACT], name="oldaction_dist")
with tf.variable_scope("policy", initializer=tf.variance_scaling_initializer(0.5, mode='fan_avg', distribution='normal', seed=3)):
    h = tf.layers.dense(obs, 8, tf.nn.tanh, name="h", bias_initializer=tf.constant_initializer(0.05))
    action_dist_n = tf.layers.dense(h, ACT, tf.nn.softmax, name="a")
N = tf.shape(obs)[0]
eps = 1e-6
p_n = tf.gather_nd(action_dist_n, tf.stack([tf.cast(tf.range(N), tf.int64), action], 1))
oldp_n = tf.reduce_sum(oldaction_dist * tf.one_hot(action, ACT), axis=1)
surr = -tf.reduce_mean(p_n / oldp_n * advant)
var_list = tf.trainable_variables()
Nf = tf.cast(N, dtype)
kl = tf.reduce_sum(oldaction_dist * tf.log((oldaction_dist + eps) / (action_dist_n + eps))) / Nf
ent = tf.reduce_sum(-action_dist_n * tf.log(action_dist_n + eps)) / Nf
pg = flatgrad(surr, var_list)
kl_firstfixed = tf.reduce_sum(tf.stop_gradient(action_dist_n) * tf.log(tf.stop_gradient(action_dist_n + eps) / (action_dist_n + eps))) / Nf
grads = tf.gradients(kl_firstfixed, var_list)
flat_tangent = tf.placeholder(dtype, shape=[None])
start, tangents = 0, []
for v in var_list:
    size = numel(v)
    tangents.append(tf.reshape(flat_tangent[start:(start + size)], var_shape(v)))
    start += size
gvp = [tf.reduce_sum(g * t) for g, t in zip(grads, tangents)]
fvp = flatgrad(gvp, var_list)
cat = tf.distributions.Categorical(probs=action_dist_n)
hess = tf.hessians(ent, [var_list[-1]])[0]
jac_norm = tf.py_func(lambda g: np.linalg.norm(g).astype(np.float32), [pg], tf.float32, stateful=False)
clipped = clip_ops.clip_by_norm(pg, 0.5)
session.run(tf.global_variables_initializer())
gf, sff = GetFlat(session, var_list), SetFromFlat(session, var_list)
print(gf().shape, [v.name for v in var_list])
for it in range(4):
    x = rng.randn(60, OBS).astype(np.float32)
    dist = session.run(action_dist_n, {obs: x})
    act = (rng.rand(60) > dist[:, 0]).astype(int)
    adv = np.where(act == (x[:, 0] > 0), 1.0, -1.0)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    feed = {obs: x, action: act, advant: adv, oldaction_dist: dist}
    thprev = gf()

    def fisher_vector_product(p):
        feed[flat_tangent] = p
        return session.run(fvp, feed) + 0.1 * p
    g = session.run(pg, feed)
    stepdir = conjugate_gradient(fisher_vector_product, -g)
    lm = np.sqrt(.5 * stepdir.dot(fisher_vector_product(stepdir)) / 0.01)
    sff(thprev + stepdir / lm)
    s, k, e, n = session.run([surr, kl, ent, jac_norm], feed)
    print("it %d surr %.4f kl %.4f entropy %.4f norm %.4f" % (it, s, k, e, n))
print(np.round(hess.eval({obs: x}), 4).tolist(), cat.entropy().eval({obs: x[:2]}).shape, np.round(cat.log_prob([0, 1]).eval({obs: x[:2]}), 4).tolist())
print('%.4f' % np.linalg.norm(clipped.eval(feed)), tf.is_variable_initialized(var_list[0]).eval(), session.graph.finalized)
a = tf.distributions.Normal([0.0, 1.0], 2.0)
b = tf.distributions.Normal(0.0, 1.0)
print(np.round(tf.distributions.kl_divergence(a, b).eval(), 4).tolist(), a.sample(3, seed=1).shape, tf.distributions.Beta(2.0, 3.0).mean().eval())
session.close()
