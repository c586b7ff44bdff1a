"""hello.py SYSTEM - a local server says hello: the shortest program there is, timed from start to exit."""
import sys

from library import load

tf = load(sys.argv[1])
server = tf.train.Server.create_local_server()
with tf.Session(server.target) as session:
    print(session.run(tf.constant("Hello, distributed TensorFlow!")))
