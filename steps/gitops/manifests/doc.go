// Package manifests is what Git has of an application: the source that its controller reads and the
// commit that the source holds, the manifests made of that commit from a local clone, and what Helm
// keeps of a release. Nothing of a clone runs. What cannot be made here is said with its reason, and
// values of Secrets leave it as tokens alone.
package manifests
