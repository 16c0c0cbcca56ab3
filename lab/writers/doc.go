// Command handrail-writers plays those who write into a cluster in a drill and are
// not the operator. It is told what to do by files in a directory of the drill, and
// listens on loopback alone.
//
//	webhook   an admission webhook that changes what it is asked about
//	loop      a program that writes the same fields again and again
//	node      a node: it makes Pods of one namespace come true, serves their
//	          logs to the API server, and keeps the units of its file tree running
//	amqp      opens one connection to a broker: `amqp HOST:PORT ACCOUNT VHOST`, with
//	          the password in AMQP_PASSWORD
//
// A node runs no container. What a container would do stands in its command, of
// which [programs] knows a few words, or in a table of images; anything else counts
// as a server that runs until it is told to end. Nothing of a manifest is ever run
// as a program of this machine.
package main
