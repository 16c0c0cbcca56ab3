// Package iam decides what a policy of AWS, or of a store that speaks its language, says of one request: allowed, denied, or not
// known, with the statement that decides. It reads documents and asks no server.
//
// It follows "Policy evaluation logic" and "IAM JSON policy elements reference" of the AWS IAM User Guide, for one account and
// without policies of the organisation, permission boundaries and session policies, which are not given to it:
//
//   - a Deny that matches, in either layer, beats every Allow;
//   - else an Allow that matches, in either layer, allows;
//   - else the request is denied, since nothing allows it.
//
// Three values: a statement may match, not match, or not be known to, where a condition asks for a key that is not given or by an
// operator that is not evaluated here. An Allow stands only where no Deny may match; where one may, the request is unknown.
//
// Names of actions ignore case, and * and ? stand for any characters in actions and resources; of a principal the whole * alone
// does ("Principal", Wildcards). Policy variables are filled in from the keys that are given, in a document of version 2012-10-17; a
// statement with one whose value is not given may match.
//
// A Deny with NotPrincipal denies all but those that it names, those that are made later among them: [Statement.Inverted].
package iam
