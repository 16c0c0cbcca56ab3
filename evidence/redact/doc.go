// Package redact takes secrets out of what is stored and shown. It sees every byte before the disk or the screen does, writes nothing
// of its own but what it is given a writer for, and does not know what a bundle is.
//
// # Order
//
// First values that the caller knows or a source has marked (raw, JSON- and URL-escaped, in hex, UTF-16, base64 at its three
// alignments), then structure by media type (MediaKubernetes, MediaTFState, MediaTFPlan, MediaKubeconfig, MediaJSON, MediaEnv), then
// rules for text, those of the team (TeamRule) among them. In states and plans structure is what their marks say, what is known of some
// providers, and what was told from the schemas of others (kind tf-schema). Text in gzip or UTF-16 comes out as UTF-8. In data of an
// entry the string v of {"t":"ident","v":"…"} is only searched for known values, since it identifies an object.
//
// # Tokens
//
// A secret becomes <redacted:KIND:16 hex>. The first ten digits are HMAC-SHA256(key, "value" 0x00 value) and stand
// for the value whatever rule found it; the last six are HMAC-SHA256(key, "check" 0x00 first ten digits), so that a log cannot forge a
// token. Text that looks like a token and is none becomes <forged-redacted:…. Values of Secrets count as what their base64
// decodes to, PEM keys without their white space. A token that was heard in an entry is one, whatever its key.
//
// # Artifacts
//
// An Artifact redacts a stream. Where the source was cut into writes does not change what comes out. Close returns what was found, as
// KIND=count. "unparsed" among them says that the structure that the media type promised was not there. JSON then has, on a line of
// its own, the byte where it broke and why; what follows keeps its keys and shape, and each value is a token of kind withheld.
// Of anything else one line says how many bytes were withheld. Structured JSON comes out indented by two spaces.
//
// # Rules for text
//
// A rule is a literal and a judgement. One automaton finds all literals in one pass, in any case; the judgement looks at the place: at
// the form of the secret itself (shapes), at the name that a value belongs to (assignment), at where it stands in a command, a URL, a
// header, a table or a manifest. Runs of base64, hex, URL encoding, escapes and UTF-16 are looked into, one layer deep, and a run that is
// random in itself is hidden unless what stands around it says that it is public. The digest of a Redactor is over all rules in force.
//
// A hostile text cannot make this slow: what rules look at beside the one pass is counted, and where it is too much the whole line
// becomes one secret (kind dense-line). A secret that is not over waits for at most 64 KiB.
package redact
