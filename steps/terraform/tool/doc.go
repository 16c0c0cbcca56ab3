// Package tool finds the program of a root module, tofu or terraform, and runs it.
//
// A program runs in a directory that a person trusted (Trusted), without input, in
// a process group or a session of its own, and with an environment made from
// scratch (Env): what it needs to run and the credentials of providers and backends,
// and nothing that changes its arguments, its log, its plugins or its servers. The
// values of secret variables are told to the sink first (Secrets), since a program
// may print them in a form that no pattern knows.
//
// There are two ways to run. Run, RunTold and RunIn are for what may be ended: the
// end of the context sends one interrupt and, after a grace, a kill; output is
// bounded, and a program is never blocked by who reads it. Start is for an apply:
// it holds a lock, so it is interrupted once and never killed, and writes into files
// in memory that outlast its reader, since a program that writes into a broken pipe
// dies with its lock held.
package tool
