// Package register reads a register of break-glass sessions: who may do what in production by hand, why, on what, from when
// until when, and who looks at it afterwards. It is a file of the team, in YAML or JSON: a list of sessions, or a mapping with
// the sessions and the accounts that several people share.
//
//	sessions:
//	  - id: BG-118
//	    person: ada            # who acts
//	    account: ada-emergency # as which account, where that has another name
//	    reason: the tills refuse payments
//	    scope: [configmaps/tills/limits]
//	    incident: INC-731
//	    opened: 2026-11-20T08:05:00Z
//	    expires: 2026-11-20T09:00:00Z
//	    closed: 2026-11-20T08:40:00Z
//	    approvedBy: grace
//	    review: {owner: platform, due: 2026-11-24, done: 2026-11-23}
//	    note: by telephone
//	shared: [root, admin]
//
// The format is handrail's own: no product exports such a register in one that is documented. docs/policy.md is its reference.
//
// It is read strictly: an unknown or repeated key, a time that is none and an id that stands twice are errors at their line. What
// an entry lacks is no error but told of it ([Session.Lacks]), since a session without an end is what a register is asked for. An
// empty text and null stand for nothing.
//
// # What holds
//
//   - A session is open from its beginning until it is closed. One that is past its end and not closed is expired, not closed: the
//     credentials that it gave may work.
//   - opened, expires and closed are times of RFC 3339. due and done of a review may be dates; a review is due until its day ends,
//     in UTC, and done as its day begins.
//   - A write was made inside of a session that began by then and had neither ended nor been closed, to the second, which is how
//     exact the times of managedFields are.
//   - A scope is RESOURCE/NAMESPACE/NAME, without NAMESPACE for what has none; a * stands for any one of them, but not for all. Or it
//     is another text, as an address of Terraform, that may end in a * after a dot, a slash or a bracket. RESOURCE without a group is
//     that of any group. Part of a name covers nothing.
//   - What is not given is unknown, and never fine.
package register
