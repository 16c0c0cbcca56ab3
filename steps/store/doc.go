// Package store tells why a store of objects refuses or takes a write, from the documents that a person saved.
//
//	store/access  what the policies of an identity and of a bucket say of one request, and which statement decides
//
// The evaluation itself is that of steps/store/iam. Documents are read as AWS, MinIO and the tools print them: the document alone,
// the answer of aws s3api get-bucket-policy, of aws iam get-policy-version and get-role-policy, or of mc admin policy info.
package store
