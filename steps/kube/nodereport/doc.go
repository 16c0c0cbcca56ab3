// Package nodereport holds the script that an operator runs on a node to see
// what may write there unasked, and reads what it printed.
//
// A report is lines of fields with | between them. The first is
//
//	handrail-node-report|1
//
// then come node|NAME, at|TIME and user|UID, and any number of
//
//	item|SECTION|NAME|DETAIL|HASH    something that was found
//	unread|SECTION|WHY               something that could not be looked at
//	done|SECTION                     the section was looked through to its end
//
// and last end|LINES|CRC, the count of the lines before it and their CRC by
// cksum. What stands before the first line and after the last is no part of it,
// so that a report may be pasted with the prompt around it.
//
// A report is what a node says of itself: the owner of the node can make it lie.
// It is read as the text of a stranger.
package nodereport
