// Package evidence writes, reads and proves evidence bundles: directories of plain files that survive a crash, hold no
// secret in clear and show any later change. It knows nothing of what its entries mean. What follows, with the form of JSON
// (package jsontree) and that of signatures and time stamps (package sig), is the complete format: another program can verify a
// bundle from these texts alone. What is hidden and how is stated by package redact, what is kept for named people by package escrow.
//
// # Layout
//
//	<id>.hrb/                      mode 0700, files 0600, blobs 0400
//	  bundle.json                  one line {"format","id","created","handrail"}, written once
//	  README                       how to verify without handrail, written once
//	  journal/000001.jsonl         entries; before a segment would pass 16 MiB the next one begins, and the chain goes on
//	  blobs/sha256/<2 hex>/<64 hex>  artifacts; the name is the SHA-256 of the file, the directory its first two digits
//	  seals/000001.txt             checkpoint; .txt.sig its SSHSIG (namespace seal-v1@handrail); 000001.tsr an optional RFC 3161 time stamp
//	  quarantine/<seq>-<64 hex>.bin  bytes taken out after damage; the name ends in their SHA-256
//	  lock                         advisory lock of the writer; its content means nothing
//
// Beside the bundle may lie <id>.handling.jsonl, see Handling below; it is no part of the bundle.
//
// Names that begin with .tmp- are unfinished and mean nothing. report.md and report.html may lie beside; nothing vouches
// for them. Any other name, a link or a device is an error. A bundle has at most 200,000 files and directories and 8 GiB,
// a blob at most 2 GiB.
//
// # Entries
//
// A segment is a sequence of lines, each at most 1 MiB with its newline. A line is one JSON object without blanks
// whose keys are these, all present, in this order:
//
//	v      1
//	seq    0 for the first entry of the bundle, then one more each, across segments
//	type   see below
//	t      UTC, like 2026-11-21T02:14:07.000000000Z
//	mono   nanoseconds since the writing process started, as a decimal string
//	boot   boot id of the host
//	actor  who is at the keyboard, or "system"
//	step   what step it belongs to, or ""
//	data   an object; no key twice in any object; see Long data
//	blobs  list of {"role","sha256","size","media","truncated","rules"}; size is a decimal string of bytes
//	prev   hash of the entry before, in 64 lower-case hex digits; 64 zeros in entry 0
//	hash   always last
//
// Numbers that need more than 53 bits and times go in as strings. The object is in the one form that package jsontree states, so that
// every entry has exactly one form, and a verifier requires that writing a parsed line again gives the same bytes.
//
// The hash covers the bytes of the line from its first brace up to the comma before "hash"; what follows them is the
// fixed 75 bytes `,"hash":"<64 hex>"}` and a newline. It is SHA-256(0x00 || covered bytes), the leaf hash of RFC 6962.
//
// # Entry 0
//
// Type env. Its data has format, id, bundle_sha256 and readme_sha256 (SHA-256 of the two files), handrail, go, os,
// arch, host and ruleset_sha256. That of a bundle that was redacted again also has again, see there.
//
// # Types
//
// Written by the store: env (entry 0; redaction_key, see Redaction; known and sensitive, the same; another ruleset_sha256; filesystem, where locks and
// syncs may mean nothing; context, see below), recover (bytes went to quarantine: segment,
// offset, length, sha256, file, alarm, why), seal, reopen, checkpoint, reveal. Its users write the others, lower-case words with dots
// between them: handrail the events of its loop (package triage). A bundle with a type that a user does not know can be read and
// verified by that user, not continued.
//
// An env entry with context tells, by the word of the writer, who works with what: each time an incident is opened one
// entry tells of the machine and one of the cluster. Its data is {"context":{"<name>":{"t":"<type>","v":…}},"audit":[…]};
// a value has "unknown":"could not check, because …" in place of v where it could not be had. Names are host.* (name, os, user, dir,
// kernel, container), git.* (head, branch, dirty), ci.<variable>, terraform.* (workspace, backend), handrail.* and tofu.* (path, sha256,
// version; commit, go, modified), cluster.* (server, context, uid, version, skew) and api.* (user, uid, groups). One with context.name is
// a pin: what a context of the kubeconfig led to when the incident first used it (context.own, context.user, cluster.server, cluster.uid,
// cluster.ca, the SHA-256 of its certificate authority). One with context.other tells of that context, not of the incident's own. audit are the
// Audit-IDs of the requests made for it, as in probe.end, gate.shown, gate.closed, act.end and act.again: each is the UUID (version 8) whose
// bits are the first 128 of SHA-256("handrail audit-id v1\n<id>\n<step>\n<seq>\n<n>\n"), seq the newest entry when the step began to
// ask, n from 1.
//
// # Long data
//
// Data over 256 KiB, but for that of env, recover, seal, reopen and checkpoint, stands in a blob: the last of the entry, of media type
// application/vnd.handrail.data+json, at most 128 MiB, whose bytes are the object in the form that the line would have had. data of
// the line then has those of its members that are no longer than 16 KiB, key and value, none where they come to more than
// 128 KiB, and last bulk, the hash of the blob. A reader puts the blob in the place of data once it has that hash, is in that
// form and gives that line. Where this text speaks of data, it means the whole.
//
// # Seals
//
// A seal entry sums up the entries before it. Its data has these keys, and all but the last follow from those entries,
// so that a verifier computes them again and compares the bytes:
//
//	entries     how many entries are before it
//	types       object: how many of each type, keys sorted by their bytes
//	blobs       how many different blobs they name
//	blob_bytes  the sum of their sizes, as a decimal string
//	quarantine  list of the files that recover entries name, without the directory
//	rulesets    list of the ruleset_sha256 that env entries name, each once, in the order of appearance
//	clock       {"first","last","back","worst","boots"}: t of the first and last entry; how often t went back from one entry
//	            to the next, and the longest such step in nanoseconds, as a decimal string; how many runs of equal boot
//	anchors     list of the lines that checkpoint entries record
//	seals       how many seals are before it
//	skipped     list of the steps that were left out, by the word of the writer
//
// The nth seal entry has the checkpoint seals/<n in six digits>.txt, and no other file has such a name. A checkpoint is
// three lines: handrail/bundle/v1/<id>, the number of entries it covers, and the base64 (padded, one spelling only) of
// the RFC 6962 Merkle tree hash whose leaves are the hashes of those entries. It covers its own seal entry. Directly
// after a seal comes nothing or a reopen entry ({"seal":<n>}), and a reopen nowhere else; the older seal stays valid for
// what it covers. A root that stands in the journal or in a checkpoint is never trusted but recomputed. A checkpoint
// follows from the journal, so that one that a crash left out is written when the bundle is sealed or continued next; one
// that is missing otherwise fails.
//
// # Approvals
//
// Where a gate.shown entry has second, its data says that another person must agree, and an approve entry must follow before the
// gate is answered. A severity.ask entry has the same form, with the step severity and no class, its target the lines severity, to, worst
// and because: an approve entry must follow before a severity entry with its digest lowers the severity to that of to. The sig
// of an approve entry is an SSHSIG with namespace approve-v1@handrail, else as under Signatures, of these seven lines:
//
//	handrail approval v1
//	incident <id>
//	step <step>
//	digest <digest of the gate.shown or severity.ask>
//	shown <SHA-256, in hex, of the data of that entry as stored>
//	until <its until, RFC 3339 in UTC>
//	signed <signed of the approve entry, the same>
//
// key is the fingerprint of the key that signed. It is none of second.own, and the person none of second.asks.
//
// # Signatures
//
// A signature is an SSHSIG (OpenSSH, PROTOCOL.sshsig) of a checkpoint file with namespace seal-v1@handrail, in the one form that package
// sig states. The first is <checkpoint>.sig; a further one carries the first 16 hex digits of the SHA-256 of its public key (the blob
// that is base64 in a .pub file), and a verifier checks that. Each is of the recomputed checkpoint.
//
// Whose signature counts is in an allowed_signers file of the verifier, which package sig reads. The time that counts is t of the seal
// entry. A signature by a key that the file does not name is unproven; by one that it names and does not allow here, failed.
//
// # Time stamps
//
// seals/<n in six digits>.tsr is the reply of a time stamping authority (RFC 3161, TimeStampResp) about the checkpoint of
// the nth seal, in DER, as openssl ts -verify -in takes it, in the one form that package sig states. The imprint is that of the
// recomputed checkpoint. What does not hold, fails.
//
// A time stamp says that the entries existed before its time plus its accuracy; that they are all there were, it does not
// say. It is unproven unless the verifier brought roots along. Then it is ok when the signer leads to one of them by the
// certificates in it, at the stated time and for time stamps, else failed; and the newest seal must have one that is ok.
//
// # Anchors
//
// The line "handrail-seal <id> <entries> <root>" is a checkpoint to be posted where the author of the bundle cannot change
// it. A checkpoint entry ({"line","where"}) says that it was. A verifier recomputes the root at that size: a line that
// does not fit fails, whether it was recorded or brought along.
//
// # Verdicts
//
// Verify states each property apart as ok, unproven or failed: layout, format, chain, complete, blobs, quarantine, seal, signature (one
// for each file), signed-by (one for each person who must have signed the newest seal), timestamp (one for each file), anchor, redaction, custody, and of a bundle that was redacted again redacted-again. Ok is
// what was recomputed, or checked with what the verifier brought along. Complete is ok only when an allowed signature of the
// newest seal, or an anchor that was brought along, covers the last entry. A bundle fails when a property fails.
// testdata/vectors.tar.gz holds sample bundles with the verdicts that every verifier must come to.
//
// # Archives
//
// A packed bundle is a tar, or a tar with gzip, of these names, with or without <id>.hrb/ before all of them: plain files
// and directories only, no name twice or not in its shortest form, no extended attributes, a file at most 256 MiB, at most 200 times
// the packed size, nothing but zeros behind the end. A lock in it is passed over.
//
// # Durability
//
// A blob is written under a temporary name, synced, made read-only, renamed, and its directory synced, before an entry
// names it. An entry is one write and one sync; only then is it acknowledged. After a failed write or sync the
// writer takes nothing more and never syncs that file again. On opening, a final line that is torn or wrong is copied to
// quarantine/, cut off, and recorded by a recover entry (with alarm when the line was whole). A wrong line before the last is no
// crash, and the bundle is not continued. A good final line is written once more where it stands, with the same bytes, and
// synced, since the sync of an earlier writer may have failed. A file in quarantine/ that no recover entry names, as a crash
// between the two leaves it, gets one. After the sync and before it acknowledges, the writer looks whether the journal still has
// its name and size.
//
// # Redaction
//
// Every string of an entry and every blob is redacted before it reaches the disk, and before it is cut to size, as package redact
// states: a secret becomes <redacted:KIND:16 hex>. A token that stands in an entry already is one, whatever its key. ruleset_sha256 of
// entry 0 is a digest over all rules in force. A blob's rules list what was found, as KIND=count, and with unparsed that the structure
// that its media type promised was not there.
//
// Values that a writer was told are kept for later writers outside the bundle, beside the key and encrypted under it, and are
// destroyed with it. An env entry with known "lost" says that a writer did not have those of earlier ones, or could not keep
// its own: from there on words of text that could be such a value are hidden (kind doubtful). What schemas of providers call
// sensitive stands in env entries: sensitive is an object of lists, by type of resource the paths of attributes, with
// dots between names.
//
// The key is 32 random bytes outside the bundle. An env entry with redaction_key "new" says that tokens from there on are
// of another key. One directly before a seal says what becomes of the key once the seal and its checkpoint stand:
// "destroyed", or "escrowed", that is encrypted (age) to recipients, in a file outside the bundle that has this sha256, and
// then destroyed. Anywhere else these two say nothing. After such a seal a writer begins a new key. All this is the word of
// the writer, and an artifact that was being written during the seal may have tokens of both keys.
//
// # Handling
//
// What is done with a bundle as a whole, sealed or not, stands in <id>.handling.jsonl beside <id>.hrb, outside the bundle: nothing
// covers it, a bundle verifies without it, and it changes no verdict. Each line has the form of an entry, with mono "0", boot and step
// "" and no blobs, and its own chain from 64 zeros, so that the recipe for a journal checks it. Type is export, verify, push,
// pull, leaks, redact or reveal; actor is by the word of the program. data has {"form","place","result","exit","entries","root"}: the form of an export,
// where to or from, how it ended in words and as an exit code, and the checkpoint of the bundle then (0 and "" where it could
// not be read). Texts are redacted as output is, and of a URL the user information, the query and the fragment become "…".
//
// A writer holds a lock (flock) on the file, appends one line and syncs. A line that a crash tore stays, the next begins on a line of its own, follows
// the last good one, and a reader counts what is no entry as damaged. A reader also says which roots the bundle does not have: such
// a line is about another journal. A cut tail does not show. The log of a copy begins anew where the copy lies: it is not copied.
//
// # Undo material
//
// What must stay as it was so that an act can be undone, secrets included, is no part of a bundle; package escrow states where it is. In
// data of the act.start entry undo has {"command","blob","path","sha256","bytes","recipients"}: the command that undoes the act, the
// redacted copy among the blobs, and what escrow says of the file. The last four are missing where redaction took nothing out: then the
// blob is the undo material. Without undo nothing can be undone. A verifier checks none of it but the blob.
//
// # Redacted again
//
// A bundle is never redacted in place. A new one is made, with another id, and data of its entry 0 has again:
// {"id","entries","root","actor","reason","at"}: the checkpoint of the old bundle, by whom, why and when. Entry n of the new
// one is entry n of the old one: same type, t, mono and boot; entry 0 has the old handrail, go, os and arch. In actor, step,
// data and blobs bytes were replaced by tokens (with the quotes around them, or a number that became one), and nothing else: but
// for the hash of a blob or of a file in quarantine that changed, which stands under its new name wherever a string of data is
// that hash, sizes and rules, and the data of seals, which is computed again. Signatures and time stamps are not carried over. What checkpoint
// entries below that number record is about the old bundle and proves nothing of the new one.
//
// The property redacted-again is unproven by itself. Beside the old bundle it is ok when the checkpoint fits it and all the
// above holds, where a token stands for one byte or more. The laws of the loop are judged on the new bundle as on any
// other: a gate whose evidence is hidden, or a stored runbook that changed, breaks them, and a verifier says so.
package evidence
