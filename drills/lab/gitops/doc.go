// Package gitops runs real GitOps controllers beside a lab: Argo CD (its application controller, its repository server
// and their Redis) or Flux (source-controller, kustomize-controller, helm-controller), and Git repositories that they
// read over HTTP.
//
// Each controller is a program of its own on this machine, as an account of its own that may do everything in the
// lab, so that the audit log names it. The namespace of their names (argocd, flux-system) makes them the ones of the lab:
// they see every namespace. In another namespace they are one of several, see their objects in it alone and, of Argo CD,
// mark what is theirs with an installation ID. No node runs: a Deployment stays Progressing unless a test says otherwise.
//
// Everything listens on loopback, and ends with Close, on Linux with the process that started it too. Two listeners
// answer every user of this machine, as they do in a cluster: the repository server renders what it is asked to, and
// source-controller hands out its artifacts.
package gitops
