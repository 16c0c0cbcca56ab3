// Package registry asks the registries of the providers that a lock file pins: whether
// they answer, offer the pinned version for a platform, and name the checksum that is
// locked.
//
// It sends GET over verified TLS and no credential, to the hosts of the addresses alone,
// and to none before the directory is trusted: the file says whom to ask. What does not
// answer is down from here; that says nothing of another machine. A registry that wants
// a credential is unread.
package registry
