// Package disk is how evidence reaches a file system: durably, without following a planted link, and with one writer.
//
// Write makes a small file appear with exactly its bytes or not at all: it is written under a name that begins with .tmp-, synced,
// renamed, and its directory synced. A file is opened without following a symbolic link in its last element and without blocking on a
// FIFO. The lock is advisory (flock) and ends with its process; the text in its file only tells people who has it. Remote names the
// file systems on which locks and syncs may mean nothing.
//
// All that writes goes through FS, so that a test can make each call fail, tear or lose what was not synced.
package disk
