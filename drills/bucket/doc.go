// Package bucket is a small S3 server for drills that need no cluster: one bucket on loopback
// that keeps a state and its lock file, in a folder of the drill. It is a part of handrail
// itself, so that such a drill waits for no build. It answers as the lab's S3 server does, and a
// test holds the two against each other with real requests.
//
// It has what tofu, terraform and handrail ask for: the objects, conditional writes
// (If-None-Match, If-Match), ranges, lists, and a bucket that keeps no versions. All else is
// refused as NotImplemented. Every request must be signed by one of its accounts, since loopback
// is open to every user of a machine.
//
// The folder:
//
//	keys          an account in each line: NAME ACCESSKEY SECRET; made by [Prepare]
//	address       host:port, once it listens
//	requests.log  one [Request] as JSON in each line
//	objects/      the bucket and its objects as files; the time of a file is that of its last write
package bucket
