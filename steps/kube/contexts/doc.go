// Package contexts says which cluster a context of the operator's kubeconfig
// leads to, and lets every probe of the world read in another one.
//
// Clusters are told apart by the UID of their namespace kube-system, never by
// name or address. What is read in another context says so in every line; gates
// have no such parameter and act in the incident's own context alone. Where the
// incident knows another cluster by that name, a probe ends with that refusal and
// keeps nothing of what it read.
package contexts
