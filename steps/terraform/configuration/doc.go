// Package configuration reads what a root module declares, without running
// anything: the resource behind an address, inputs that take any type and their
// uses, and the selection of providers in .terraform.lock.hcl against the
// configuration, the mirror and Git.
//
// Files are parsed as tofu parses them (loosetype, providerlock). What cannot be
// parsed or found is a gap of the answer; only where there is none does "not
// declared" mean anything. An Address is one resource instance as the tools write
// it, keys and all.
package configuration
