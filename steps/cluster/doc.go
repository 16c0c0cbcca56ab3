// Package cluster is the client of an API server, for every world of steps that
// speaks to one.
//
// # What it reads
//
// [Load] reads the operator's kubeconfig by kubectl's rules, with the flags of
// kubectl on top; [Connect] makes a [Client] of it and asks nothing yet.
// [Client.Find], [Client.KindOf] and [Client.Target] resolve what people and
// references call a [Resource], from a discovery that is asked once.
// [Client.Get] reads one [Object]; [Client.List], [Client.ListItems],
// [Client.ListForm], [Each] and [EachAs] list a collection in pages and show
// each object to the caller: no list is ever held as a whole. Lists that nothing
// but a few fields are needed of come as metadata, or in protobuf by a shape of
// steps/cluster/wire.
//
// # What it promises
//
// A Client cannot write. Its transport lets through reads, and POSTs of the
// reviews that store nothing; [Client.Through] lends a client whose requests
// pass another guard of steps/transport, and the gates in steps/kube/act alone
// may take it. No request leaves before the incident agreed to the cluster that
// the context leads to ([Access.Pinned]), and what a request authenticates with
// is named to the sink before it leaves, so that it is never stored.
//
// Every request, every answer and all pages of a list are bounded, in time and in
// bytes. No loop runs at the will of a server: one that sends the same page again
// is left.
//
// Errors tell what is from what is not known. [ErrAbsent] is the API server's own
// 404 about that very object, [ErrNoKind] that discovery was whole and knows no
// such kind, steps.ErrDenied a refusal; everything else means that it is not
// known, and says what to do next. A list of which not all was read is an error,
// whatever was shown until then.
//
// [Client.Now] is the clock of the server, or why there is none: ages are counted
// between two of its times, never by the operator's machine.
//
// # What it leaves to others
//
// It knows names and forms of Kubernetes, but no meaning: what an object says is
// judged in steps/kube. Its texts from a server are raw; a caller clips what it
// shows. Equivalent commands come from [Client.Kubectl], without secrets.
package cluster
