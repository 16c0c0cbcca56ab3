// Package store keeps the state of a drill on a server of its backend: PostgreSQL, Consul, an
// S3 with a table of locks, an emulator of Cloud Storage or of Azure storage, or a server of the
// http protocol, all on loopback.
//
// [Serve] is the work of one process, which starts the servers of the lab that a backend needs and
// stands before them with an address for each identity: who sent a request is told by where it came
// in. It keeps a log of the writes ([Writes]), as an API server does of its own; without its log a
// drill could not prove who wrote. [Read] says, once it is ready, how the module of the drill names
// its state, and what each identity has in its environment.
//
// A [Place] also does what only an owner of the server can: make a lock look older, which a practice
// cannot wait for, and end a lock that force-unlock cannot release.
package store
