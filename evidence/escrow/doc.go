// Package escrow keeps what only named people may read: what an act is undone from, and redaction keys. It is encrypted to their
// recipients in the format of age (age-encryption.org/v1, X25519 or hybrid, not mixed); nothing of it reaches the disk in clear,
// and without a recipient nothing is written.
//
// Undo material is a file in a directory outside every bundle, named undo-<24 hex>.age, mode 0600, synced with its directory before it
// is named anywhere. Undo says where it is, its SHA-256, how many bytes it holds when decrypted, as a decimal string, and to whom it is
// encrypted.
package escrow
