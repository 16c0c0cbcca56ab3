// Package cloud reads what the API of a cloud recorded: the witness of a mutation that does not depend on the run.
//
// cloud/writes asks the event history of AWS CloudTrail (LookupEvents) for the write calls of one role or user since its run
// began. It reads only: its requests leave through transport.Operations, which lets LookupEvents and GetCallerIdentity pass and
// refuses every other operation of AWS. Region and credentials are those of the operator's AWS tools. Saved records work
// without any access: a file of CloudTrail (lookup-events, or one that a trail delivered), of Google Cloud's audit logs
// (gcloud logging read --format json) or of Azure's activity log (az monitor activity-log list).
//
// A call that ended without an error is a write that happened, from wherever it is read: mutated is seen. That nothing was
// written is said of the event history alone, and only where all of this holds:
//
//   - the account that was asked is the one of the principal;
//   - at least one call of the principal is recorded, be it a read: a name that was mistyped has none;
//   - every page of every region was read, and the region of global services among them (IAM and others record there alone:
//     "Working with CloudTrail event history", Limitations);
//   - the run began within the 90 days that the history holds;
//   - the run has ended, and the delay of the log has passed since: CloudTrail delivers within about 5 minutes on average and
//     promises nothing ("How CloudTrail works"), so 15 minutes are the least that is taken.
//
// All else is unknown. The history has management events alone: writes of objects, items and messages (data events) are in
// none of it. Several runs may use one role: sessions says whose calls they are.
package cloud
