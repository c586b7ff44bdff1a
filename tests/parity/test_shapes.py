"""Static shapes: what TensorFlow knows of a tensor before anything runs, the library knows too."""
import pytest
import tensorflow as tf

import weftlib

v1 = tf.compat.v1
R = tf.raw_ops


def names():
    """The variables that the expressions below are written in."""
    ph, f, i = v1.placeholder, tf.float32, tf.int32
    return dict(tf=v1, R=R, S=v1.shape, ph=ph, f=f, i=i, st=tf.string,
                x=ph(f, [None, 3]), u=ph(f, None), c=v1.zeros([4, 5, 6]), b=ph(i, []), v=ph(i, [2]), w=ph(i, [None]),
                n=ph(f, [None, 4, None, 8]))


EXPRESSIONS = """
x[0:2]; x[-2:]; x[:5]; x[5:2]; x[2:5:2]; x[::2]; x[::-1]; x[b]; x[b:]; x[:b]; c[b:,1:,b]; c[:b]; c[...,b]; c[:,::b]
u[0]; u[...,0]; x[None]; x[...,None]; c[b:3]; c[1:b,...,None,0]; c[1:3,-2:,::2]; c[0,...,-1]; c[:,None,2]
tf.slice(c,[0,0,b],[1,2,-1]); tf.slice(c,[0,0,1],[1,b,-1]); tf.slice(x,[0,1],[-1,-1]); tf.slice(x,v,[1,1])
tf.slice(x,[0,0],v); tf.slice(u,v,v); tf.slice(u,w,w); tf.slice(u,[0,0],[1,-1]); tf.slice(x,v,[-1,2])
tf.split(x,2,0); tf.split(x,3,1); tf.split(x,3,b); tf.split(u,3,0); tf.split(x,v,1); tf.split(x,[1,-1],1)
tf.split(x,[1,-1],0); tf.split(u,[1,-1],0); tf.unstack(c,axis=-2); tf.unstack(x,axis=1)
tf.concat([x,x],0); tf.concat([x,x],1); tf.concat([x,x],b); tf.concat([x,u],1); tf.concat([u,u],1); tf.concat([c,c],b)
tf.concat([x,ph(f,[2,None])],1); tf.concat([u,x],-1); tf.concat([x,u],0); tf.stack([x,tf.zeros([2,3])])
tf.stack([x,u],axis=-1); tf.stack([u,u]); R.Concat(concat_dim=1,values=[x,x]); R.ConcatOffset(concat_dim=0,shape=[v,w])
tf.pad(x,[[1,1],[0,2]]); tf.pad(x,tf.stack([v,v])); tf.pad(u,[[1,1],[0,2]]); tf.pad(u,ph(i,[None,2])); tf.pad(x,ph(i,[None,2]))
tf.pad(x,[[1,1],[0,2]],'REFLECT'); tf.tile(x,[2,2]); tf.tile(x,v); tf.tile(c,[1,b,1]); tf.tile(u,[2,2]); tf.tile(u,w); tf.tile(x,w)
tf.reverse(u,[0]); tf.reverse(x,[0]); tf.transpose(x,[1,0]); tf.transpose(x,v); tf.transpose(u,[1,0]); tf.transpose(u,w)
tf.transpose(x); tf.transpose(c); tf.transpose(u); tf.broadcast_to(x,[2,3]); tf.broadcast_to(x,v); tf.broadcast_to(x,[4,b,3])
tf.broadcast_to(u,w); tf.reshape(x,[-1,3]); tf.reshape(x,[3,-1]); tf.reshape(c,v); tf.reshape(c,w); tf.reshape(c,[4,b])
tf.reshape(x,[S(x)[0],3,1]); tf.reshape(x,[S(x)[0],-1]); tf.reshape(x,S(u)); tf.reshape(u,tf.concat([S(x)[:1],[4]],0))
tf.reshape(u,S(x)*2); tf.reshape(u,tf.stack([S(x)[0]*2,3])); tf.reshape(u,tf.stack([S(x)[1]*2,3])); tf.reshape(c,[-1])
tf.reshape(c,S(x)[1:]*40); tf.reshape(c,tf.cast(tf.cast([2,-1],tf.int64),tf.int32)); tf.reshape(u,S(c)[:2]); tf.reshape(u,S(n)[1:3])
tf.expand_dims(u,0); tf.expand_dims(x,b); tf.expand_dims(x,-1); tf.squeeze(x); tf.squeeze(x,[0]); tf.squeeze(u,[0]); tf.squeeze(c[:1])
tf.fill(v,1); tf.fill(w,1); tf.fill([b,3],1); tf.fill(S(x),1.); tf.zeros(S(x)); tf.zeros_like(u); tf.ones_like(x); tf.zeros([b,2])
tf.gather(c,w); tf.gather(c,[[0,1]],axis=1); tf.gather(u,[0]); tf.gather(c,w,axis=b); tf.gather(c,tf.zeros([4,2],i),batch_dims=1)
tf.gather(c,tf.zeros([4,2],i),axis=2,batch_dims=1); tf.gather(x,tf.zeros([4,2],i),axis=1,batch_dims=1); tf.gather(x,ph(i,None),axis=1)
tf.gather_nd(c,[[0,1]]); tf.gather_nd(c,ph(i,[None,None])); tf.gather_nd(u,[[0,1]]); tf.scatter_nd([[0]],[1.],[4]); tf.scatter_nd([[0]],u,v)
tf.scatter_nd(ph(i,None),x,[b,3]); tf.one_hot(w,5); tf.one_hot(w,b); tf.one_hot(w,5,axis=0); tf.one_hot(ph(i,None),5)
tf.where(x>0); tf.where(u>0); tf.unique(w); tf.unique_with_counts(w); tf.dynamic_stitch([[0,1],[2]],[tf.zeros([2,5]),tf.zeros([1,5])])
tf.dynamic_stitch([w,[2]],[ph(f,[None,5]),tf.zeros([1,5])]); tf.dynamic_partition(x,w,2); tf.dynamic_partition(c,ph(i,[4,5]),2)
tf.sparse_to_dense([[0,1]],[b,3],1.); tf.sparse_to_dense([0],v,1.); tf.sparse_to_dense([0],w,1.); tf.setdiff1d(w,v)
R.BroadcastGradientArgs(s0=v,s1=v); R.BroadcastArgs(s0=v,s1=w); R.BroadcastArgs(s0=v,s1=[1,2,3])
tf.shape(u); tf.shape(x); tf.size(u); tf.rank(u)
tf.shape_n([x,u]); tf.invert_permutation(w); tf.reverse_sequence(ph(f,[None,4]),v,seq_axis=1,batch_axis=0); tf.roll(x,[1],[0])
tf.string_join([ph(st,None),ph(st,[]),"a"]); tf.string_join([ph(st,[None]),ph(st,[2])]); tf.strings.substr(ph(st,[None]),0,3)
tf.reduce_join(ph(st,[None,3]),0); tf.ensure_shape(u,[None,3]); tf.placeholder_with_default(c,[None,5,6]); tf.identity_n([x,u])
tf.string_split(ph(st,[3])); tf.as_string(x); tf.string_to_number(ph(st,[None,2])); tf.meshgrid(w,v); tf.boolean_mask(x,ph(tf.bool,[None]))
R.Switch(data=x,pred=ph(tf.bool,[])); R.Merge(inputs=[x,tf.zeros([2,3])]); R.Merge(inputs=[x,u]); R.Merge(inputs=[c,x])
R.Enter(data=x,frame_name="f"); R.Enter(data=x,frame_name="f",is_constant=True); R.Exit(data=x); R.NextIteration(data=x)
R.StridedSliceGrad(shape=S(x),begin=[0],end=[1],strides=[1],dy=u); R.TensorScatterAdd(tensor=x,indices=[[0]],updates=tf.zeros([1,3]))
tf.gradients(tf.reduce_sum(tf.gather(x,[0])*2.),x)[0].values; tf.gradients(tf.concat([x,n[:,0,0,:3]],0),x)[0]
tf.gradients(x[1:],x)[0]; tf.gradients(tf.tile(x,[2,1]),x)[0]; tf.gradients(tf.pad(x,[[1,1],[0,0]]),x)[0]
tf.gradients(tf.split(c,2,2)[0],c)[0]
tf.while_loop(lambda k,a: k<3, lambda k,a: [k+1,a*2.], [0,x])[1]; tf.cond(ph(tf.bool,[]),lambda: x,lambda: x*2.)
"""
# Where the library says more than TensorFlow, or TensorFlow says something wrong, with the reason.
LIST = [e.strip() for line in EXPRESSIONS.strip().splitlines() for e in line.split(";")]


def at_least(known, wanted):
    """Is everything that `wanted` says also in `known`, and nothing against it?"""
    if wanted is None:
        return True
    return known is not None and len(known) == len(wanted) and all(w is None or k == w for k, w in zip(known, wanted))


@pytest.mark.parametrize("expression", LIST)
def test_static_shapes_are_tensorflows(expression):
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as g:
        try:
            eval(expression, names())
        finally:
            graph_def = g.as_graph_def()
    with tf.Graph().as_default() as g:  # without what Python added to the shapes
        tf.graph_util.import_graph_def(graph_def, name="")
    mine = weftlib.Graph(graph_def)
    less = []
    for op in g.get_operations():
        for t in op.outputs:
            wanted = None if t.shape.rank is None else t.shape.as_list()
            known = mine.shape(t.name)
            if not at_least(known, wanted):
                less.append(f"{op.type} {t.name}: {known}, TensorFlow says {wanted}")
    assert not less, "\n" + "\n".join(less)
